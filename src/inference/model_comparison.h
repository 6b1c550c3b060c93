#pragma once
// How far the predictions of one model are from those of another that should be the same: a quantised copy of it.

#include <span>

#include "models/model.h"

namespace limpid {

struct ModelComparison {
  int64_t tokens = 0;
  double divergence = 0;  // Kullback-Leibler, Σ p·ln(p/q) of the next token, nats per token; p: reference
  double loss = 0, reference_loss = 0;  // nats per token
  double agreement = 0;                 // share of tokens whose likeliest next token is the same

  double perplexity() const;
  double reference_perplexity() const;
};

// Over all scored tokens of the batches. Both models have one vocabulary.
ModelComparison compare_models(const Model& reference, const Model& model, std::span<const Batch> batches);

}  // namespace limpid
