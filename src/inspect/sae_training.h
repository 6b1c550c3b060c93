#pragma once
// Trains a sparse autoencoder on a stream of vectors, and measures one.

#include <functional>

#include "inspect/activation_buffer.h"
#include "inspect/sae.h"

namespace limpid {

struct SaeTrainingOptions {
  int64_t steps = 2000, batch = 1024;
  double learning_rate = 1e-3;  // after 5 % of warm-up; falls to zero over the last fifth
  double sparsity = 5;  // λ of ReLU: the loss is mean |x - x̂|² + λ·Σf, of vectors scaled to mean |x|² = inputs
  int64_t dead_after = 200;      // steps without firing that make a feature dead
  int64_t resample_every = 200;  // steps between attempts to give dead features a new direction; 0: never
  uint64_t seed = 1;
};

struct SaeStep {
  int64_t step = 0;
  double loss = 0;        // mean |x - x̂|² a number, 1: nothing explained (about)
  double active = 0;      // features that fire at a vector, mean
  int64_t dead = 0;       // features that have not fired for long
  int64_t resampled = 0;  // so far
};

// One update's gradient: of mean over rows of |x - x̂|² + λ·Σf. Returns the squared error a row, and counts firing.
struct SaeGradient {
  double error = 0, active = 0;
};
SaeGradient sae_gradient(const Sae& sae, const Arena& arena, Gradients& gradients, ConstMatrix x, double sparsity,
                         std::vector<int64_t>& fired);

// `draw` fills rows with fresh vectors. Returns false from `progress` to stop early; the autoencoder is whole then too.
// At the end its numbers are in the units of the vectors. Returns the steps done.
int64_t train_sae(LoadedSae& sae, const SaeTrainingOptions& options, const std::function<void(Matrix)>& draw,
                  const std::function<bool(const SaeStep&)>& progress = {});

struct SaeScore {
  int64_t tokens = 0;
  double active = 0;              // L0: features that fire at a token, mean
  double explained_variance = 0;  // 1 - Σ|x - x̂|²/Σ|x - mean|²
  double dead_share = 0;          // of features that fired nowhere
  // Cross entropy in nats per token: as it is, with x̂ in x's place, with zero in x's place; 0 where nothing is scored.
  double loss = 0, loss_spliced = 0, loss_zeroed = 0;
  double loss_recovered() const;  // (zeroed - spliced)/(zeroed - as it is)
  std::vector<double> density;    // share of tokens at which each feature fires
};
nlohmann::ordered_json sae_score_json(const SaeScore& score);

// On the texts that training left out, at most so many tokens.
SaeScore score_sae(const Session& session, const Sae& sae, const CorpusOptions& corpus,
                   const ActivationBufferOptions& options, int64_t tokens);

}  // namespace limpid
