#pragma once
// generation_config.json: how a published model wants to write.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "inference/token_rules.h"

namespace limpid {

struct GenerationConfig {
  TokenRules rules;  // bad_words_ids, suppress_tokens, begin_suppress_tokens, forced_bos_token_id, forced_eos_token_id,
                     // eos_token_id, min_length or min_new_tokens, no_repeat_ngram_size
  std::optional<int64_t> beams;       // num_beams
  std::optional<int64_t> max_tokens;  // max_new_tokens: to write
  std::optional<int64_t> max_length;  // max_length: with what stands before, a prompt or the start token
  std::optional<double> length_penalty, repetition_penalty, temperature, top_p, min_p;
  std::optional<int64_t> top_k;
  std::optional<bool> do_sample;
};

// Reads a folder's generation_config.json, or where there is none the same keys of its config.json (older models). Ids
// must lie in the vocabulary. Keys of another kind are ignored; a value of the wrong type is an Error.
GenerationConfig read_generation_config(const std::filesystem::path& folder, int64_t vocab);

}  // namespace limpid
