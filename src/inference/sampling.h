#pragma once
// Sampling: from a row of scores to the next token. Pure functions: the same row, history, options and draw give the
// same token.
//
// The order is that of Hugging Face's transformers:
//   1. bias is added; repetition, frequency and presence penalties are taken from tokens of the history
//   2. scores are divided by the temperature
//   3. top-k:  the k likeliest stay
//   4. top-p:  of those the likeliest whose probabilities together reach p stay; the one that reaches it too
//   5. min-p:  those whose probability is at least min_p times that of the likeliest stay
//   6. one of the rest is drawn by its probability
// llama.cpp applies the temperature after the filters; `temperature_last` does so. Each filter leaves the beginning of
// the tokens sorted by probability, and never less than one; of equals the lower id comes first.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/real.h"
#include "inference/top_tokens.h"

namespace limpid {

// How many logits are computed at once where all positions of a text want theirs: 16 MB.
inline constexpr int64_t kMaxLogits = 1 << 22;

struct SamplingOptions {
  double temperature = 1;         // 0: the likeliest token
  int64_t top_k = 0;              // 0: all
  double top_p = 1;               // 1: all
  double min_p = 0;               // 0: all
  bool temperature_last = false;  // after the filters
  double repetition_penalty = 1;  // scores above 0 are divided by it, others multiplied (Keskar et al. 2019, CTRL)
  double frequency_penalty = 0;   // taken from a score for every occurrence, as OpenAI's
  double presence_penalty = 0;    // taken once from the score of a token that occurs
  int64_t penalty_window = 0;     // so many of the last tokens of the history count; 0: all
  std::vector<std::pair<int32_t, double>> bias;  // added to scores
  std::vector<int32_t> never;                    // ids that are not to be chosen
};

// Throws for what cannot be meant.
void check_sampling(const SamplingOptions& options);

struct Candidate {
  int32_t id = 0;
  double probability = 0;
};

// What can be drawn, with probabilities that sum to one. Likeliest first where a filter or the temperature 0 sorted
// them, else by id.
std::vector<Candidate> candidates(std::span<const real> logits, std::span<const int32_t> history,
                                  const SamplingOptions& options);

// The candidate that a number drawn evenly from [0, 1) falls on.
Candidate draw(std::span<const Candidate> candidates, double uniform);

// log Σ eˣ of a row: a token's log-probability by the model itself is its score less this. Throws where the row holds
// what is no number.
double log_sum_of_exp(std::span<const real> logits);

// The likeliest tokens of a row by the model itself, likeliest first.
std::vector<TokenScore> likeliest(std::span<const real> logits, int64_t count, double log_sum);

}  // namespace limpid
