#pragma once
// y = x·Wᵀ + b with quantised W. x is quantised to 8 bits on the fly (kernels/quantized_rows.h): for every block of W's
// 32 inputs where W has scales for blocks, else for a whole row. Products of the small integers are summed exactly;
// then
//
//   y[i, o] = b[o] + Σ_blocks float(Σ q_x·q_w)·(factor_w·factor_x),   blocks in their order, each a fused multiply-add
//
// and, of types with minima, after each block − minimum_w·(factor_x·Σ q_x),
//
// so that a number depends on its row and its output alone, not on the rows beside it or on the number of threads.

#include <span>

#include "kernels/quantized_matrix.h"
#include "tensor/matrix.h"

namespace limpid::kernels {

// One of several matrices that are multiplied with the same x, and where its outputs stand in y.
struct QuantizedPart {
  const QuantizedMatrix* matrix = nullptr;
  const real* bias = nullptr;  // null: none
  int64_t first_column = 0;
};

// All matrices have x.cols inputs and one type.
void quantized_gemm(ConstMatrix x, std::span<const QuantizedPart> parts, Matrix y);

}  // namespace limpid::kernels
