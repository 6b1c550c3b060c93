#pragma once
// QuantizedMatrix: a matrix of 8- or 4-bit numbers, laid out for the product y = x·Wᵀ.
//
// Outputs are taken 64 at a time, a panel; of each output four inputs, a group, lie side by side, which is what one
// lane of a dot-product instruction reads. So a vector of 16 lanes multiplies four inputs with 16 outputs, and a panel
// is read from its first byte to its last, whatever the number of rows of x.
//
//   q8_0   a panel: for every 32 inputs 8 groups of 64×4 bytes, q + 128, then 64 factors (float16): 2176 bytes
//   q4_0   a panel: for every 32 inputs 4 groups of 64×4 bytes, the low halves inputs 4g…4g+3, the high halves inputs
//          16+4g…16+4g+3, q + 8, then 64 factors (float16): 1152 bytes
//   q8     a panel: all groups of 64×4 bytes, q + 128, then 64 factors (float)
//
// The bytes are those of the stored matrix in another order: as many, but for outputs that fill up the last panel.

#include "kernels/panels.h"
#include "tensor/number_type.h"

namespace limpid::kernels {

inline constexpr int64_t kGroupBytes = 4 * kPanelOutputs;

struct QuantizedMatrix {
  NumberType type = NumberType::q8_0;
  int64_t rows = 0, cols = 0;  // outputs, inputs
  int64_t panel_bytes = 0;
  std::shared_ptr<std::byte> data;

  int64_t panels() const { return panels_of(rows); }
  const std::byte* panel(int64_t i) const { return data.get() + i * panel_bytes; }
};

// Lays out a matrix that is stored row by row (see NumberType), in parallel. `factors`: of type q8, one a row.
QuantizedMatrix pack_quantized(NumberType type, const void* numbers, const float* factors, int64_t rows, int64_t cols);

}  // namespace limpid::kernels
