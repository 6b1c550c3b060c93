#pragma once
// Writes a GGUF file (formats/gguf.h), version 3, whole or not at all.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"

namespace limpid {

struct GgufTensorToWrite {
  std::string name;
  DType type = DType::f32;     // one that GGUF has
  std::vector<int64_t> shape;  // rows first, as everywhere here
  const std::byte* data = nullptr;
  // Which row of the data (of a vector: which number) stands at a place of the file; none: the same.
  std::function<int64_t(int64_t)> row_at = {};
};

class GgufWriter {
 public:
  void integer(std::string_view name, uint32_t value);
  void real(std::string_view name, float value);
  void flag(std::string_view name, bool value);
  void text(std::string_view name, std::string_view value);
  void texts(std::string_view name, const std::vector<std::string>& values);
  void reals(std::string_view name, const std::vector<float>& values);
  void integers(std::string_view name, const std::vector<int32_t>& values);
  void bytes(std::string_view name, std::string_view values);

  void tensor(GgufTensorToWrite tensor) { tensors_.push_back(std::move(tensor)); }

  void write(const std::filesystem::path& path) const;

 private:
  void key(std::string_view name, uint32_t type);

  std::string keys_;
  uint64_t key_count_ = 0;
  std::vector<GgufTensorToWrite> tensors_;
};

}  // namespace limpid
