#pragma once
// Matrix products. The work is cut into blocks of the result that depend on its shape alone, each computed by one
// thread, so that the same product gives the same bits with any number of threads; a bias is added while a block is
// still in the cache.

#include "tensor/matrix.h"

namespace limpid::kernels {

enum class Transpose { no, yes };

// c (+)= op(a)·op(b) (+ bias in every row), op(x) = x or xᵀ. The bias may be null.
void gemm(Transpose transpose_a, ConstMatrix a, Transpose transpose_b, ConstMatrix b, Matrix c, bool accumulate,
          const real* bias = nullptr);

}  // namespace limpid::kernels
