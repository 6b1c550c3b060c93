#pragma once
// How well a language model predicts text that it has not seen.

#include "inference/loaded_model.h"
#include "training/recipe.h"

namespace limpid {

struct Likelihood {
  double nats = 0;  // of all tokens
  int64_t tokens = 0;
  int64_t bytes = 0;  // of the text, line ends included

  double loss() const { return nats / static_cast<double>(tokens); }  // per token
  double perplexity() const;
  double bits_per_byte() const;
};

// Over the recipe's test files, by the same windows or lines as in training.
Likelihood measure_likelihood(const LoadedModel& loaded, const Recipe& recipe);

}  // namespace limpid
