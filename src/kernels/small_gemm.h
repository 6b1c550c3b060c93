#pragma once
// The product of two small matrices that lie in cache, with the freedom attention needs: A may be read transposed.
//
//   C[i, j] (+)= alpha[i] · Σ_p A[i, p]·B[p, j]
//
// Every C[i, j] is one chain of fused additions in the order of p, however the matrices are cut into tiles: its bits
// depend on row i of A and column j of B alone.

#include "tensor/matrix.h"

namespace limpid::kernels {

// A matrix whose numbers are read one by one: A[i, p] = data[i·row + p·col].
struct StridedMatrix {
  const real* data = nullptr;
  int64_t row = 0, col = 1;
};
inline StridedMatrix as_is(ConstMatrix x) { return {x.data, x.stride, 1}; }
inline StridedMatrix transposed(ConstMatrix x) { return {x.data, 1, x.stride}; }

inline constexpr real kOne = 1;

struct SmallGemm {
  StridedMatrix a;            // (m, k)
  ConstMatrix b;              // (k, n)
  Matrix c;                   // (m, n)
  const real* alpha = &kOne;  // alpha[i·alpha_step]; a step of 0 makes it one number for all rows
  int64_t alpha_step = 0;
  bool accumulate = false;  // add to C instead of overwriting it
};

// In the calling thread.
void small_gemm(const SmallGemm& gemm);

}  // namespace limpid::kernels
