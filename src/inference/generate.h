#pragma once
// Generation: what a model writes, by beam search, by the likeliest token or by drawing. The same for every family that
// writes; several texts are worked on at once, and each comes out as if it had been alone.

#include <cstdint>
#include <span>
#include <vector>

#include "models/model.h"

namespace limpid {

struct GenerateOptions {
  int64_t beam = 4;            // 1: greedy
  int64_t n_best = 1;          // hypotheses returned a text, at most `beam`
  double length_penalty = 1;   // scores are divided by length^penalty; 0: not at all
  int64_t max_tokens = 0;      // of the text written, without its end; 0: from the source, twice its tokens + 50
  int64_t texts_at_once = 64;  // bounds memory
  // Tokens that texts must begin with: none, one prefix for all, or one for each source. They count for scores and for
  // max_tokens like those that are searched for; a longer prefix comes out whole.
  std::vector<std::vector<int32_t>> prefixes = {};
};

struct Hypothesis {
  std::vector<int32_t> ids;  // without start and end
  double log_probability = 0;
  double score = 0;  // log_probability normalised by length; what the beam sorts by
};

// For encoder-decoder models (Transformer and recurrent): for each source (ids with the end token) the best hypotheses,
// best first. inference/beam_search.h states the rule of the search. The token for padding and the one that starts a
// decoder are never written; what is longer than the model's table of positions allows ends there.
std::vector<std::vector<Hypothesis>> translate(const Model& model, std::span<const std::vector<int32_t>> sources,
                                               const GenerateOptions& options);

}  // namespace limpid
