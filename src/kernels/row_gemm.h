#pragma once
// Matrix products for running a model: the numbers of a row of the result depend on that row of x alone, never on how
// many rows there are or on the number of threads. So a text has the same bits alone and among others. One row is as
// welcome as many: weights are read once, where and as they are stored. Many rows are faster with a packed matrix.

#include "kernels/gemm.h"
#include "kernels/panels.h"
#include "tensor/dtype.h"

namespace limpid::kernels {

// Whether numbers of this type are widened in registers: nothing but their stored bytes passes through memory.
constexpr bool widens(DType type) { return type == DType::f16 || type == DType::bf16; }

// Row by row: reals, or a type that is widened.
struct StoredMatrix {
  DType type = kRealType;
  const void* data = nullptr;
  int64_t rows = 0, cols = 0;
};

// y = x·op(w) + bias in every row, op(w) = wᵀ for w (outputs, inputs) or w (inputs, outputs). The bias may be null.
void row_gemm(ConstMatrix x, Transpose transpose_w, const StoredMatrix& w, Matrix y, const real* bias);

// A matrix (outputs, inputs) in the order in which a product of many rows reads it, of the type it was stored as:
// outputs in panels, in a panel all outputs of the first input, then of the next.
struct PackedMatrix {
  DType type = kRealType;
  int64_t outputs = 0, inputs = 0;
  std::shared_ptr<std::byte> data;

  // The panel that begins with output `first`.
  const void* panel(int64_t first) const { return data.get() + bytes_of(type, first * inputs); }
};

PackedMatrix pack(const StoredMatrix& w);  // (outputs, inputs)

// y = x·wᵀ + bias in every row. The bias may be null.
void row_gemm(ConstMatrix x, const PackedMatrix& w, Matrix y, const real* bias);

}  // namespace limpid::kernels
