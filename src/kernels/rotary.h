#pragma once
// Rotary positions (Su et al. 2021), in the convention of Hugging Face: element i of a head is paired with i + pairs,
// which is half the head where all of it is turned.

#include <vector>

#include "tensor/matrix.h"

namespace limpid {

struct Rotation {
  std::vector<double> frequencies;  // usually theta^(-2i/D), one for each pair
  int64_t head_size = 0;            // D; what lies behind the pairs is left alone
  real factor = 1;                  // on the turned numbers
};

namespace kernels {

// For each token t and head: (a, b) → factor·(a·cos - b·sin, b·cos + a·sin) with a = x[i], b = x[i + pairs] and the
// angle positions[t]·frequencies[i]. x and y are (tokens, heads·D). y may be x.
// inverse turns back (but for the factor), which is also the backward of the forward: dx (+)= rotate(dy, inverse).
void rotary(ConstMatrix x, const int32_t* positions, const Rotation& rotation, bool inverse, Matrix y, bool accumulate);

}  // namespace kernels
}  // namespace limpid
