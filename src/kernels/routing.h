#pragma once
// Which experts a token takes, and by what shares (Shazeer et al. 2017). Rows are as long as a model has experts, a few
// dozen numbers at most: plain loops.

#include <cstdint>

#include "tensor/matrix.h"

namespace limpid::kernels {

// p = softmax(x) of each row of logits (tokens, experts); experts: the `chosen` likeliest of each token, likeliest
// first, of equals the lower one; shares (tokens, chosen): their p, where normalised divided by its sum over the
// chosen.
void route_forward(ConstMatrix logits, int64_t chosen, bool normalize, Matrix p, int32_t* experts, Matrix shares);

// dlogits += p∘(dp - Σ p∘dp), where dp is zero but for the chosen ones, whose gradient comes from their shares.
void route_backward(ConstMatrix p, const int32_t* experts, bool normalize, ConstMatrix dshares, Matrix dlogits);

}  // namespace limpid::kernels
