#pragma once
// generation_config.json: how a published model wants to write. What it says of tokens that must or must not be written
// is applied to a row of scores before a token is chosen, whichever way that is done.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/real.h"

namespace limpid {

struct GenerationConfig {
  std::vector<std::vector<int32_t>> bad_words;  // sequences that are not to be written
  std::vector<int32_t> suppressed;              // tokens that are not to be written
  std::vector<int32_t> suppressed_first;        // not as the first token
  std::optional<int32_t> forced_first,
      forced_last;                           // forced_bos_token_id; forced_eos_token_id, where no more may follow
  std::vector<int32_t> ends;                 // tokens that end a text; empty: as config.json says
  std::optional<int64_t> beams, max_tokens;  // num_beams; max_length with the start token, or max_new_tokens
  std::optional<double> length_penalty, temperature, top_p;
  std::optional<int64_t> top_k;
  std::optional<bool> draws;  // do_sample
};

// Reads a folder's generation_config.json, or where there is none the same keys of its config.json (older models). Ids
// must lie in the vocabulary. Keys of another kind are ignored; a value of the wrong type is an Error.
GenerationConfig read_generation_config(const std::filesystem::path& folder, int64_t vocab);

// Scores of tokens that must not come next become -∞; of a forced token's rivals too. `written` is what was written so
// far, without the start token; `last`: no token may follow the next one.
void apply_token_rules(const GenerationConfig& config, std::span<const int32_t> written, bool last,
                       std::span<real> scores);

}  // namespace limpid
