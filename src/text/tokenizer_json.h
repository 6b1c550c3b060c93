#pragma once
// tokenizer.json, the file of Hugging Face's library "tokenizers".

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "text/storable_tokenizer.h"

namespace limpid {

// Pieces and their ids as one object, in the order of the ids. Read with a tokenizer_config.json, what that says of
// special tokens counts before their names.
nlohmann::ordered_json vocabulary_json(const Vocabulary& vocabulary);
std::shared_ptr<const Vocabulary> vocabulary_from_json(const nlohmann::json& members,
                                                       std::span<const std::string> special, const std::string& where,
                                                       const nlohmann::json& config = nlohmann::json::object());

// The parts that several kinds of tokenizer share.
nlohmann::ordered_json lowercase_json(bool lowercase);                 // a normalizer, or null
nlohmann::ordered_json word_level_json(const Vocabulary& vocabulary);  // a model that looks whole tokens up

// The whole file. The template that adds special tokens around a text is what `around` states, else that of the model
// type: "</s>" after what an encoder-decoder reads, "[CLS]" and "[SEP]" around what an encoder reads, "<s>" before what
// a language model goes on from.
nlohmann::ordered_json tokenizer_json(const StorableTokenizer& tokenizer, const std::string& model_type,
                                      const Tokenizers& around);

// Parses a JSON file; whatever is wrong with it is an Error that names it.
nlohmann::json read_tokenizer_file(const std::filesystem::path& path);

// The tokenizer of a tokenizer.json, and the special ids that its template puts around a text. What its special tokens
// are for is said by tokenizer_config.json beside it, if there is one. A kind that Limpid does not know is an Error
// that says which.
Tokenizers read_tokenizer_json(const std::filesystem::path& path);

// The tokenizer that was read from a file beside a tokenizer.json, with the template of the latter; unless that adds
// tokens which the other does not know: then it is read instead.
Tokenizers read_beside_json(const std::filesystem::path& path,
                            const std::shared_ptr<const StorableTokenizer>& tokenizer);

// tokenizer_config.json of a folder, with the special tokens that only special_tokens_map.json names; an empty object
// where there is none.
nlohmann::json read_tokenizer_config(const std::filesystem::path& folder);
// Whether the token that begins a text stands before one, where a tokenizer_config.json says so ("add_bos_token"); else
// nothing is changed.
void state_begin(const nlohmann::json& config, Tokenizers& tokenizers);
// Whether the end token stands after a text that the model reads, where a tokenizer_config.json says so
// ("add_eos_token"); else nothing is changed.
void state_end(const nlohmann::json& config, Tokenizers& tokenizers);
// What a tokenizer_config.json says of a special token, "eos_token" for example; empty where it says nothing.
std::string special_name(const nlohmann::json& config, const char* key);

}  // namespace limpid
