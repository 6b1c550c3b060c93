#pragma once
// The models of a tokenizer.json: byte pair encoding, WordPiece, and the unigram language model of SentencePiece.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "text/storable_tokenizer.h"

namespace limpid {

// `config` is tokenizer_config.json, or an empty object. What is wrong with the layout is an exception of the JSON
// library, for the caller to word; what Limpid does not know is an Error.
std::shared_ptr<const StorableTokenizer> read_bpe_json(const nlohmann::json& file, const nlohmann::json& config,
                                                       const std::string& where);
std::shared_ptr<const StorableTokenizer> read_word_piece_json(const nlohmann::json& file, const nlohmann::json& config,
                                                              const std::string& where);
std::shared_ptr<const StorableTokenizer> read_unigram_json(const nlohmann::json& file, const nlohmann::json& config,
                                                           const std::string& where);

}  // namespace limpid
