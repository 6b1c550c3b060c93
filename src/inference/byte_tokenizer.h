#pragma once
// A tokenizer whose tokens are bytes, for tests: characters that are not ASCII lie across several tokens.

#include "text/tokenizer.h"
#include "text/utf8.h"

namespace limpid {

class ByteTokenizer : public Tokenizer {
 public:
  static constexpr int32_t kBegin = 256, kEnd = 257, kPad = 258, kMask = 259;

  int64_t size() const override { return 260; }
  SpecialIds special() const override { return {.pad = kPad, .end = kEnd, .begin = kBegin, .mask = kMask}; }
  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int32_t> ids;
    for (const char c : text) ids.push_back(static_cast<uint8_t>(c));
    return ids;
  }
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids)
      if (id < 256) text += static_cast<char>(id);
    return repaired_utf8(text);
  }
  std::string bytes(int32_t id) const override { return id < 256 ? std::string(1, static_cast<char>(id)) : ""; }
  std::string piece(int32_t id) const override {
    return id == kMask ? "[MASK]" : id < 256 ? std::string(1, static_cast<char>(id)) : "<special>";
  }
};

}  // namespace limpid
