#pragma once
// Small valid inputs for each reader, made by the project's own writers: nothing is stored and nothing is foreign.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace limpid::fuzz {

using Seeds = std::vector<std::string>;

Seeds seeds_of_safetensors();
Seeds seeds_of_index();
Seeds seeds_of_gguf();
Seeds seeds_of_config();
Seeds seeds_of_folder();  // models, float and quantised
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
Seeds seeds_of_state();
Seeds seeds_of_moments();
Seeds seeds_of_record();
Seeds seeds_of_log();
Seeds seeds_of_tokenizer_files();
Seeds seeds_of_fields();  // of requests
Seeds seeds_of_http();
Seeds seeds_of_chat_template();
Seeds seeds_of_sentence_settings();

// A checkpoint of a small model; and what it says of the run's progress, read once its manifest has been written anew.
void write_seed_checkpoint(const std::filesystem::path& path);
nlohmann::ordered_json read_seed_checkpoint(const std::filesystem::path& path);

}  // namespace limpid::fuzz
