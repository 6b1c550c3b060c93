#pragma once
// A GGUF file taken apart into its fields and put together again, with counts and lengths made to fit: so that a
// mutation of one field reaches what reads that field instead of shifting all that lies behind it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace limpid::fuzz {

struct GgufForm {
  struct Metadata {
    std::string key;
    uint32_t type = 0;
    uint32_t element_type = 0;  // of a list
    std::vector<std::string>
        values;  // one, or the elements of a list; numbers as their bytes, texts without their length
  };
  struct Tensor {
    std::string name;
    std::vector<uint64_t> sizes;
    uint32_t type = 0;
    uint64_t offset = 0;
  };
  uint32_t version = 3;
  std::vector<Metadata> metadata;
  std::vector<Tensor> tensors;
  std::string numbers;  // what follows the list of tensors, padding included

  static constexpr uint32_t kText = 8, kList = 9;

  // Nothing where the bytes are not of this form.
  static std::optional<GgufForm> parse(const std::string& bytes);
  std::string bytes() const;
};

}  // namespace limpid::fuzz
