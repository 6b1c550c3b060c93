#pragma once
// Scores: how likely a model finds a given text, token by token.

#include <span>
#include <vector>

#include "inference/top_tokens.h"
#include "models/model.h"

namespace limpid {

struct TextScoreOptions {
  int64_t top = 0;                  // likeliest tokens told with each token
  int64_t context = 0;              // of language models: tokens looked back on at most; 0: as many as the config says
  int64_t max_batch_tokens = 4096;  // bounds memory
};

struct ScoredToken {
  int32_t id = 0;
  double log_probability = 0;
  int64_t rank = 1;             // 1: the likeliest; of equals the lower id comes first
  std::vector<TokenScore> top;  // likeliest first
};

struct TextScore {
  std::vector<ScoredToken> tokens;
  double log_probability = 0;  // the sum
};

// Language models: every token but the first, given those before it. A text longer than the context is read in windows
// that overlap by half, so that each token is scored once and has at least half a context before it.
std::vector<TextScore> score_texts(const Model& model, std::span<const std::vector<int32_t>> texts,
                                   const TextScoreOptions& options = {});

// Encoder-decoder models: every token of a target (with its end token) given those before it and the source.
std::vector<TextScore> score_pairs(const Model& model, std::span<const std::vector<int32_t>> sources,
                                   std::span<const std::vector<int32_t>> targets, const TextScoreOptions& options = {});

}  // namespace limpid
