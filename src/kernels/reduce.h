#pragma once
// Sums that give the same bits with any number of threads.

#include "tensor/matrix.h"

namespace limpid::kernels {

// sums[j] (+)= Σ_i x(i, j): the gradient of a bias.
void column_sums(ConstMatrix x, real* sums, bool accumulate);

// Σ x²; accumulated in double. Ranges of so many numbers are added up by themselves and then in order, so that the sum
// of parts that begin at multiples of it has the same bits.
inline constexpr int64_t kSquaresRange = 64 * 1024;
double sum_of_squares(const real* x, int64_t count);

}  // namespace limpid::kernels
