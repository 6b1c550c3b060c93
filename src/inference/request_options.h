#pragma once
// What a request says of how to write, on the command line or over HTTP. What it leaves open is as the model's files
// want it (generation_config.json), and where those say nothing, the usual.

#include <cstdint>
#include <optional>

#include "inference/complete.h"
#include "inference/generate.h"
#include "inference/generation_config.h"

namespace limpid {

struct RequestOptions {
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<int64_t> top_k;
  std::optional<int64_t> no_repeat_ngram;
  std::optional<int64_t> max_tokens;  // to write
  // Of searches.
  std::optional<int64_t> beams;
  std::optional<double> length_penalty;
};

// `sampling` and `rules` come in as the usual.
void merge_sampling(const RequestOptions& request, const GenerationConfig& config, SamplingOptions& sampling,
                    TokenRules& rules);
// The most tokens to write after a prompt of so many (an encoder-decoder model's start token: 1).
int64_t merged_max_tokens(const RequestOptions& request, const GenerationConfig& config, int64_t prompt_tokens,
                          int64_t usual);
// Beams, lengths and penalties of a search for n texts; `usual.rules` gives way to the config's.
GenerateOptions merged_search(const RequestOptions& request, const GenerationConfig& config, GenerateOptions usual);

}  // namespace limpid
