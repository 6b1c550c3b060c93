#pragma once
// Tokenizer: text to ids and back. Trained on the spot or read from a model's folder; const and shared by threads.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

// Ids that stand for no text; -1: the vocabulary has none.
struct SpecialIds {
  int32_t pad = -1;
  int32_t end = -1;      // </s>: the text is over (encoder models: [SEP])
  int32_t unknown = -1;  // what the vocabulary cannot say
  int32_t begin = -1;    // <s> (encoder models: [CLS])
  int32_t mask = -1;     // encoder models
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual int64_t size() const = 0;  // ids are 0 … size - 1
  virtual SpecialIds special() const = 0;
  virtual std::vector<int32_t> encode(std::string_view text) const = 0;  // adds no special ids
  virtual std::string decode(std::span<const int32_t> ids) const = 0;    // special ids leave no text
  virtual std::string piece(int32_t id) const = 0;                       // one token as people read it, "▁the"
  // What a token is within a text, byte for byte: " the"; it may be a part of a character. Special ids are none.
  virtual std::string bytes(int32_t id) const = 0;
};

// A model's two sides: the text it reads and the text it writes. One object where the model has one.
struct Tokenizers {
  std::shared_ptr<const Tokenizer> source, target;
  // Special ids that the model wants around a text it reads. Where its files say so, that is all there is, be it
  // nothing; else its family's custom is meant.
  std::vector<int32_t> before = {}, after = {};
  bool stated = false;
};

// The ids with this one at their end: added unless it stands there already, or there is none.
inline std::vector<int32_t> with_end(std::vector<int32_t> ids, int32_t end) {
  if (end >= 0 && (ids.empty() || ids.back() != end)) ids.push_back(end);
  return ids;
}

}  // namespace limpid
