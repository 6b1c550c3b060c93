#pragma once
// Adam (Kingma & Ba 2015) and AdamW (Loshchilov & Hutter 2019): one pass over flat buffers.

#include <cstdint>

#include "base/real.h"

namespace limpid::kernels {

struct AdamStep {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay =
      0;  // AdamW: weights shrink by learning_rate·weight_decay; Adam: the gradient grows by it·weight
  bool decoupled = true;      // true: AdamW's decay, false: Adam's
  double gradient_scale = 1;  // what the gradient is multiplied by first: clipping, accumulation
  int64_t step = 1;           // counted from 1: the bias corrections are 1 - betaᵗ
};

// m = β₁m + (1-β₁)g;  v = β₂v + (1-β₂)g²;  w -= lr·(m/(1-β₁ᵗ)) / (√(v/(1-β₂ᵗ)) + eps), in PyTorch's order of
// operations.
void adam(const AdamStep& options, int64_t count, const real* gradient, real* weight, real* m, real* v);

}  // namespace limpid::kernels
