#pragma once
// The bytes of a SentencePiece model from its pieces, for vocabularies that other formats keep in other ways.

#include <string>
#include <string_view>
#include <vector>

namespace limpid {

struct SentencePiecePiece {
  enum Type {
    normal = 1,
    unknown = 2,
    control = 3,
    user_defined = 4,
    unused = 5,
    byte = 6
  };  // as the format numbers them
  std::string text;
  float score = 0;
  Type type = normal;
};

struct SentencePieceModel {
  std::vector<SentencePiecePiece> pieces;
  bool bpe = true;  // else unigram
  bool dummy_prefix = true, fold_spaces = false;
  std::string_view character_map = {};  // compiled rules of normalisation; none: text stays as it is
};

// As a file "tokenizer.model" has it. An empty piece, which is an id that nobody uses, gets a name of its own.
std::string sentencepiece_bytes(const SentencePieceModel& model);

}  // namespace limpid
