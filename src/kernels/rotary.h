#pragma once
// Rotary positions (Su et al. 2021), in the convention of Hugging Face: element i of a head is paired with i + D/2.

#include "tensor/matrix.h"

namespace limpid::kernels {

// For each token t and head: (a, b) → (a·cos - b·sin, b·cos + a·sin) with a = x[i], b = x[i + D/2] and the angle
// positions[t]·theta^(-2i/D). x and y are (tokens, heads·D), D = head_size, even. y may be x.
// inverse turns back, which is also the backward of the forward: dx (+)= rotate(dy, inverse).
void rotary(ConstMatrix x, const int32_t* positions, int64_t head_size, real theta, bool inverse, Matrix y,
            bool accumulate);

}  // namespace limpid::kernels
