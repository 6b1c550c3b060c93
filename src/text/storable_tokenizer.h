#pragma once
// StorableTokenizer: what every tokenizer here is built on: a vocabulary, and how the tokenizer reads in a
// tokenizer.json. A new kind is a class derived from this and, to be read again, a row in the table of
// text/tokenizer_json.cpp.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "text/added_tokens.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace limpid {

class StorableTokenizer : public Tokenizer {
 public:
  explicit StorableTokenizer(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {}

  int64_t size() const final { return vocabulary_->size(); }
  SpecialIds special() const final { return vocabulary_->special(); }
  std::string piece(int32_t id) const final { return vocabulary_->piece(id); }
  const Vocabulary& vocabulary() const { return *vocabulary_; }

  // Like encode, but special tokens that are spelt out in the text become their ids: for texts that a program made,
  // such as a chat template's, never for what somebody has written.
  std::vector<int32_t> encode_with_special(std::string_view text) const;
  // Special tokens that are more than their spelling: which white space beside them belongs to them.
  void set_special_rules(std::unordered_map<int32_t, AddedTokens::Rules> rules) { special_rules_ = std::move(rules); }

  // The objects "normalizer", "pre_tokenizer", "decoder" and "model" of a tokenizer.json.
  virtual nlohmann::ordered_json json_parts() const = 0;
  // The model file of SentencePiece, of tokenizers that have one.
  virtual std::string_view sentencepiece_model() const { return {}; }

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::unordered_map<int32_t, AddedTokens::Rules> special_rules_;  // by id
};

}  // namespace limpid
