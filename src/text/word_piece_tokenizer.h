#pragma once
// WordPieceTokenizer: BERT's. A word is the longest piece of the vocabulary that it begins with, then the longest one
// that goes on ("##ing"), to its end; a word that comes to no end so is unknown.

#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/storable_tokenizer.h"

namespace limpid {

struct WordPieceParts {
  std::shared_ptr<const Vocabulary> vocabulary;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::string prefix = "##";   // of pieces that go on
  int64_t longest_word = 100;  // characters; a longer one is unknown
  bool cleanup = true;         // decoding takes the spaces before punctuation away
};

// Those of BERT itself.
WordPieceParts bert_parts(std::shared_ptr<const Vocabulary> vocabulary, const BertNormalizing& normalizing);

class WordPieceTokenizer final : public StorableTokenizer {
 public:
  WordPieceTokenizer(WordPieceParts parts, const std::string& where);

  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string bytes(int32_t id) const override;
  nlohmann::ordered_json json_parts() const override;

 private:
  void encode_word(std::string_view word, std::vector<int32_t>& ids) const;

  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  std::string prefix_;
  int64_t longest_word_;
  bool cleanup_;
  size_t longest_piece_ = 0;  // bytes
};

}  // namespace limpid
