#pragma once
// tokenizer.json, the file of Hugging Face's library "tokenizers".

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "text/storable_tokenizer.h"

namespace limpid {

// Pieces and their ids as one object, in the order of the ids.
nlohmann::ordered_json vocabulary_json(const Vocabulary& vocabulary);
std::shared_ptr<const Vocabulary> vocabulary_from_json(const nlohmann::json& members,
                                                       std::span<const std::string> special, const std::string& where);

// The parts that several kinds of tokenizer share.
nlohmann::ordered_json lowercase_json(bool lowercase);                 // a normalizer, or null
nlohmann::ordered_json word_level_json(const Vocabulary& vocabulary);  // a model that looks whole tokens up

// The whole file. The template that adds special tokens around a text is that of the model type: "</s>" after what an
// encoder-decoder reads, "[CLS]" and "[SEP]" around what an encoder reads.
nlohmann::ordered_json tokenizer_json(const StorableTokenizer& tokenizer, const std::string& model_type);

// Parses a JSON file; whatever is wrong with it is an Error that names it.
nlohmann::json read_tokenizer_file(const std::filesystem::path& path);

// A tokenizer of the kinds that need no other file; another kind is an Error that says which.
std::shared_ptr<const StorableTokenizer> read_tokenizer_json(const std::filesystem::path& path);

}  // namespace limpid
