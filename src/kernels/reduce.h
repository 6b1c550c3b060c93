#pragma once
// Sums that give the same bits with any number of threads.

#include "tensor/matrix.h"

namespace limpid::kernels {

// sums[j] (+)= Σ_i x(i, j): the gradient of a bias.
void column_sums(ConstMatrix x, real* sums, bool accumulate);

// Σ x²; accumulated in double.
double sum_of_squares(const real* x, int64_t count);

}  // namespace limpid::kernels
