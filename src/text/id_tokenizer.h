#pragma once
// IdTokenizer: for models that come without a vocabulary. A text is the ids themselves: "17 4 523".

#include "text/tokenizer.h"

namespace limpid {

class IdTokenizer : public Tokenizer {
 public:
  // `end`: the token that ends a text, where the model's own config says so.
  explicit IdTokenizer(int64_t size, int32_t end = -1) : size_(size), end_(end) {}

  int64_t size() const override { return size_; }
  SpecialIds special() const override { return {.end = end_}; }
  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string piece(int32_t id) const override { return std::to_string(id); }
  std::string bytes(int32_t id) const override { return " " + std::to_string(id); }

 private:
  int64_t size_;
  int32_t end_;
};

}  // namespace limpid
