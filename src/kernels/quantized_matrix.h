#pragma once
// QuantizedMatrix: a matrix of quantised numbers, laid out for the product y = x·Wᵀ as 8- or 4-bit integers.
//
// Outputs are taken 64 at a time, a panel; of each output four inputs, a group, lie side by side, which is what one
// lane of a dot-product instruction reads. So a vector of 16 lanes multiplies four inputs with 16 outputs, and a panel
// is read from its first byte to its last, whatever the number of rows of x.
//
//   q8_0   a panel: for every 32 inputs 8 groups of 64×4 bytes, q + 128, then 64 scales (float16): 2176 bytes
//   q4_0   a panel: for every 32 inputs 4 groups of 64×4 bytes, the low halves inputs 4g…4g+3, the high halves inputs
//          16+4g…16+4g+3, q + 8, then 64 scales (float16): 1152 bytes
//   q8     a panel: all groups of 64×4 bytes, q + 128, then 64 scales (float)
//   others (tensor/block_types.h), for every 32 inputs: 4 or 8 groups as of q4_0 or q8_0 (q itself where there are
//          minima), then 64 scales (float16) for each 16 or 32 inputs, and as many minima where the type has them
//
// Of q8_0, q4_0 and q8 the bytes are those of the stored matrix in another order: as many, but for outputs that fill up
// the last panel.

#include "kernels/panels.h"
#include "tensor/dtype.h"

namespace limpid::kernels {

inline constexpr int64_t kGroupBytes = 4 * kPanelOutputs;

// What a panel's blocks of 32 inputs hold.
enum class PanelForm : uint8_t {
  rows_of_bytes,  // q8
  bytes,
  nibbles,
  bytes_with_minima,
  nibbles_with_minima,
  halves_of_bytes,  // two scales
  halves_of_nibbles,
  halves_of_nibbles_with_minima
};
constexpr bool has_nibbles(PanelForm form) {
  return form == PanelForm::nibbles || form == PanelForm::nibbles_with_minima || form >= PanelForm::halves_of_nibbles;
}
constexpr bool has_halves(PanelForm form) { return form >= PanelForm::halves_of_bytes; }
constexpr bool has_minima(PanelForm form) {
  return form == PanelForm::bytes_with_minima || form == PanelForm::nibbles_with_minima ||
         form == PanelForm::halves_of_nibbles_with_minima;
}
constexpr int64_t quant_bytes(PanelForm form) { return (has_nibbles(form) ? 4 : 8) * kGroupBytes; }
constexpr int64_t factor_bytes(PanelForm form) { return (has_halves(form) ? 2 : 1) * 2 * kPanelOutputs; }
constexpr int64_t block_bytes(PanelForm form) {  // of 32 inputs
  return quant_bytes(form) + factor_bytes(form) * (has_minima(form) ? 2 : 1);
}
PanelForm panel_form(DType type);

struct QuantizedMatrix {
  DType type = DType::q8_0;
  PanelForm form = PanelForm::bytes;
  int64_t rows = 0, cols = 0;  // outputs, inputs
  int64_t panel_bytes = 0;
  std::shared_ptr<std::byte> data;

  int64_t panels() const { return panels_of(rows); }
  const std::byte* panel(int64_t i) const { return data.get() + i * panel_bytes; }
};

// Lays out a matrix that is stored row by row (see DType), in parallel. `scales`: of type q8, one a row.
QuantizedMatrix pack_quantized(DType type, const void* numbers, const float* scales, int64_t rows, int64_t cols);

}  // namespace limpid::kernels
