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
//   iq4_nl as q8_0
//   others (tensor/block_types.h), for every 32 inputs: 4 groups as of q4_0 (q itself where there are minima); of 5 and
//          6 bits then the highest ones, of 5 one group, whose bit g of a byte belongs to inputs 4g…4g+3, of 6 two, the
//          first for inputs 0…15, whose bits 2g and 2g+1 belong to inputs 4g…4g+3; then 64 scales (float16), and as
//          many minima where the type has them
//          of types with blocks of 256, before every 256 inputs 64 units (float16), and as many of minima; the scales
//          of each 16 or 32 inputs, and minima, are then steps of one byte
//
// The bytes are about as many as those of the stored matrix, but for outputs that fill up the last panel.

#include "kernels/panels.h"
#include "tensor/dtype.h"

namespace limpid::kernels {

inline constexpr int64_t kGroupBytes = 4 * kPanelOutputs;

// What a panel's blocks of 32 inputs hold: integers of so many bits, and perhaps minima or two scales.
enum class PanelForm : uint8_t {
  rows_of_bytes,  // q8
  bytes,
  nibbles,
  five_bits,
  nibbles_with_minima,
  five_bits_with_minima,
  steps_of_nibbles_with_minima,  // from here on in blocks of 256
  steps_of_five_bits_with_minima,
  halves_of_six_bits,  // from here on with two scales
  halves_of_nibbles,
  halves_of_nibbles_with_minima
};
constexpr bool has_nibbles(PanelForm form) { return form >= PanelForm::nibbles; }
constexpr int bits_above_nibbles(PanelForm form) {
  if (form == PanelForm::halves_of_six_bits) return 2;
  return form == PanelForm::five_bits || form == PanelForm::five_bits_with_minima ||
                 form == PanelForm::steps_of_five_bits_with_minima
             ? 1
             : 0;
}
constexpr bool has_steps(PanelForm form) { return form >= PanelForm::steps_of_nibbles_with_minima; }
constexpr bool has_halves(PanelForm form) { return form >= PanelForm::halves_of_six_bits; }
constexpr bool has_minima(PanelForm form) {
  return (form >= PanelForm::nibbles_with_minima && form <= PanelForm::steps_of_five_bits_with_minima) ||
         form == PanelForm::halves_of_nibbles_with_minima;
}
// What is added to an integer to make it positive.
constexpr int quant_offset(PanelForm form) {
  return has_minima(form) ? 0 : has_nibbles(form) ? 8 << bits_above_nibbles(form) : 128;
}
constexpr int64_t quant_bytes(PanelForm form) {
  return (has_nibbles(form) ? 4 + bits_above_nibbles(form) : 8) * kGroupBytes;
}
constexpr int64_t factor_bytes(PanelForm form) {
  return (has_halves(form) ? 2 : 1) * (has_steps(form) ? 1 : 2) * kPanelOutputs;
}
constexpr int64_t block_bytes(PanelForm form) {  // of 32 inputs
  return quant_bytes(form) + factor_bytes(form) * (has_minima(form) ? 2 : 1);
}
// Of types with steps: the units before every so many blocks.
inline constexpr int64_t kBlocksPerUnit = 8;
constexpr int64_t unit_bytes(PanelForm form) {
  return has_steps(form) ? (has_minima(form) ? 2 : 1) * 2 * kPanelOutputs : 0;
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

// Lays out a matrix that is stored row by row (see DType), in parallel. `scales`: of type q8, one per row.
QuantizedMatrix pack_quantized(DType type, const void* numbers, const float* scales, int64_t rows, int64_t cols);

}  // namespace limpid::kernels
