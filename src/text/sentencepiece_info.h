#pragma once
// What a SentencePiece model file says of itself that the library does not tell.

#include <string>
#include <string_view>
#include <vector>

#include "text/sentencepiece_model.h"

namespace limpid {

struct SentencePieceInfo {
  bool bpe = false;           // else a unigram language model
  bool dummy_prefix = true;   // a space is put before every text
  bool fold_spaces = true;    // runs of spaces count as one, those at both ends as none
  std::string rule;           // name of the normalisation: "nmt_nfkc", "nfkc_cf", …; empty: the file's own
  std::string character_map;  // that normalisation, compiled; empty: there is none
};

// Reads the serialised model (a protocol buffer, sentencepiece_model.proto). `where` begins the message if it is
// broken.
SentencePieceInfo sentencepiece_info(std::string_view model, std::string_view where);

// Its pieces with their scores and types, in the order of the model's own ids.
std::vector<SentencePiecePiece> sentencepiece_pieces(std::string_view model, std::string_view where);

}  // namespace limpid
