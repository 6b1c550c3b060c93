#pragma once
// What a request says of how to write: of a program, on the command line or over HTTP. What it leaves open is as the
// model's files want it (generation_config.json), and where those say nothing, the usual of whoever was asked. The only
// place where the three meet, so that the same model writes the same whichever way it is asked.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inference/complete.h"
#include "inference/generate.h"
#include "inference/generation_config.h"
#include "inference/text_translator.h"

namespace limpid {

struct RequestOptions {
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<int64_t> top_k;
  std::optional<int64_t> no_repeat_ngram;
  std::optional<int64_t> max_tokens;   // to write
  std::optional<uint64_t> seed;        // of what is drawn
  std::optional<int64_t> top;          // likeliest tokens told with each token
  std::vector<std::string> stop = {};  // a completion ends before the first of them
  // Of translations.
  std::string prefix = {};     // that each begins with
  std::optional<bool> sample;  // drawn instead of searched for
  std::optional<int64_t> beams, n_best;
  std::optional<double> length_penalty;
  // Each that is not empty goes before that of the files.
  TokenRules rules = {};
};

// Without a word from request or files: what `limpid complete` and the library's complete() draw by.
inline constexpr double kUsualTemperature = 0.8, kUsualTopP = 0.95;
inline constexpr int64_t kUsualTopK = 40;
SamplingOptions usual_sampling();

// `sampling` and `rules` come in as the usual.
void merge_sampling(const RequestOptions& request, const GenerationConfig& config, SamplingOptions& sampling,
                    TokenRules& rules);
// The most tokens to write after a prompt of so many (an encoder-decoder model's start token: 1).
int64_t merged_max_tokens(const RequestOptions& request, const GenerationConfig& config, int64_t prompt_tokens,
                          int64_t usual);
// How a prompt of so many tokens is continued.
CompletionOptions merged_completion(const RequestOptions& request, const GenerationConfig& config,
                                    int64_t prompt_tokens, CompletionOptions usual);
// Beams, lengths and penalties of translations, and whether they are searched for or drawn.
TextTranslatorOptions merged_translation(const RequestOptions& request, const GenerationConfig& config,
                                         TextTranslatorOptions usual);

}  // namespace limpid
