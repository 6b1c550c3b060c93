#pragma once
// SentenceSettings: what a folder of sentence-transformers says about the vectors that its model gives for texts:
// modules.json (pooling, dense layers, normalisation), sentence_bert_config.json (max_seq_length, do_lower_case),
// config_sentence_transformers.json (prompts).

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "inference/embedding.h"

namespace limpid {

struct SentenceSettings {
  EmbeddingOptions embedding;  // as the modules say; without them the mean of the tokens' vectors
  int64_t max_tokens = 0;      // longer texts are cut; 0: only by the model's positions
  bool strips = false;         // white space around a text is left out
  bool lowercase = false;      // letters become small before the tokenizer sees them
  bool pools_prompt = true;    // false: the tokens of a prompt make no part of the vector
  std::map<std::string, std::string> prompts;
  std::string default_prompt;  // its name; empty: none

  // What stands before a text under this name, the default's where it is empty. Throws where there is none of it.
  std::string prompt(const std::string& name) const;
  // A text as the tokenizer is to see it.
  std::string prepared(std::string text) const;
};

// Where the model itself lies of a folder whose modules.json says so ("0_Transformer"); else the folder.
std::filesystem::path transformer_folder(const std::filesystem::path& folder);

// Without modules.json: the usual settings. What Limpid does not compute is an Error that names the file.
SentenceSettings read_sentence_settings(const std::filesystem::path& folder);

}  // namespace limpid
