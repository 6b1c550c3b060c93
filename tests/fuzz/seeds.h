#pragma once
// Small valid inputs for each reader, made by the project's own writers: nothing is stored and nothing is foreign.

#include <filesystem>
#include <string>
#include <vector>

namespace limpid::fuzz {

using Seeds = std::vector<std::string>;

Seeds seeds_of_safetensors();
Seeds seeds_of_index();
Seeds seeds_of_gguf();
Seeds seeds_of_config();
Seeds seeds_of_generation_config();
Seeds seeds_of_tokenizer_json();
Seeds seeds_of_sentencepiece();
Seeds seeds_of_llama2c();
Seeds seeds_of_llama2c_tokens();
Seeds seeds_of_npy();
Seeds seeds_of_recipe();
Seeds seeds_of_interventions();
Seeds seeds_of_place();
Seeds seeds_of_sae();
Seeds seeds_of_lines();
Seeds seeds_of_token_store();
Seeds seeds_of_checkpoint();  // manifests
Seeds seeds_of_http();
Seeds seeds_of_chat_template();
Seeds seeds_of_sentence_settings();

// A checkpoint of a small model.
void write_seed_checkpoint(const std::filesystem::path& path);

}  // namespace limpid::fuzz
