#pragma once
// Writes a safetensors file (formats/safetensors.h), whole or not at all.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/real.h"
#include "tensor/dtype.h"

namespace limpid {

struct TensorToWrite {
  std::string name;
  DType type = DType::f32;                  // in the file; quantised ones are written as bytes, q8 as I8, blocks as U8
  std::vector<int64_t> shape;               // of blocks: rows, bytes of a row
  const void* bytes = nullptr;              // the numbers as the file shall have them, or
  const real* reals = nullptr;              // the numbers to convert to `type` on the way, or
  std::function<const void*()> fetch = {};  // who says where the bytes are when their turn has come
};

// Streams the tensors to disk without a second copy of them in memory. Wider types come first, else in the order given,
// so that every tensor is aligned to its numbers. Transformers wants "format": "pt" in the metadata.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace limpid
