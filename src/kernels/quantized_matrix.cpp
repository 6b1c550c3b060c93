#include "kernels/quantized_matrix.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "base/parallel.h"
#include "tensor/block_types.h"

namespace limpid::kernels {
namespace {

struct Stored {
  DType type;
  const std::byte* numbers;
  const float* scales;
  int64_t rows, cols;

  int64_t row_bytes() const { return bytes_of(type, cols); }
};

// Four signed bytes, at most `count` of them there, as unsigned ones with 128 for zero.
uint32_t unsigned_group(const std::byte* from, int64_t count) {
  uint32_t group = 0;
  if (count >= 4)
    std::memcpy(&group, from, 4);
  else
    std::memcpy(&group, from, static_cast<size_t>(count));
  return group ^ 0x80808080U;
}

void put_group(std::byte* group, int64_t output, uint32_t value) { std::memcpy(group + 4 * output, &value, 4); }

// One output's row of blocks: a factor, then `groups` times four bytes.
template <DType type>
void pack_blocks(const Stored& stored, int64_t row, std::byte* panel, int64_t output) {
  constexpr int64_t groups = type == DType::q8_0 ? 8 : 4;
  const std::byte* from = stored.numbers + row * stored.row_bytes();
  for (int64_t block = 0; block < stored.cols / kBlockNumbers; ++block) {
    const std::byte* quants = from + 2;
    for (int64_t g = 0; g < groups; ++g) {
      uint32_t group = 0;
      std::memcpy(&group, quants + 4 * g, 4);
      put_group(panel + g * kGroupBytes, output, type == DType::q8_0 ? group ^ 0x80808080U : group);
    }
    std::memcpy(panel + groups * kGroupBytes + 2 * output, from, 2);
    from += bytes_of(type, kBlockNumbers);
    panel += groups * kGroupBytes + 2 * kPanelOutputs;
  }
}

void pack_row(const Stored& stored, int64_t row, std::byte* panel, int64_t output) {
  const std::byte* from = stored.numbers + row * stored.cols;
  int64_t g = 0;
  for (; 4 * g < stored.cols; ++g)
    put_group(panel + g * kGroupBytes, output, unsigned_group(from + 4 * g, stored.cols - 4 * g));
  std::memcpy(panel + g * kGroupBytes + 4 * output, stored.scales + row, 4);
}

// The 32 integers of an output: bytes, or their four lower bits and those above.
void put_integers(const std::array<uint32_t, 32>& q, PanelForm form, std::byte* panel, int64_t output) {
  if (!has_nibbles(form)) {
    for (size_t g = 0; g < 8; ++g)
      put_group(panel + static_cast<int64_t>(g) * kGroupBytes, output,
                q[4 * g] | q[4 * g + 1] << 8 | q[4 * g + 2] << 16 | q[4 * g + 3] << 24);
    return;
  }
  const int above = bits_above_nibbles(form);
  std::array<uint32_t, 2> top = {};
  for (size_t g = 0; g < 8; ++g)
    for (size_t i = 0; i < 4; ++i) {
      const size_t at = above == 1 ? g : 2 * (g % 4);
      top[above == 1 ? 0 : g / 4] |= (q[4 * g + i] >> 4) << (8 * i + at);
    }
  for (size_t g = 0; g < 4; ++g) {
    uint32_t group = 0;
    for (size_t i = 0; i < 4; ++i) group |= ((q[4 * g + i] & 15U) | (q[16 + 4 * g + i] & 15U) << 4) << (8 * i);
    put_group(panel + static_cast<int64_t>(g) * kGroupBytes, output, group);
  }
  for (int64_t k = 0; k < above; ++k) put_group(panel + (4 + k) * kGroupBytes, output, top[static_cast<size_t>(k)]);
}

// Any type that is read by sub-blocks.
void pack_sub_blocks(const Stored& stored, int64_t row, std::byte* panel, int64_t output, PanelForm form) {
  const std::byte* const from = stored.numbers + row * stored.row_bytes();
  const auto put_half = [&](std::byte* to, float value) {
    const uint16_t half = to_f16(value);
    std::memcpy(to + 2 * output, &half, sizeof half);
  };
  const auto put_step = [&](std::byte* to, int8_t steps) { to[output] = static_cast<std::byte>(steps); };
  const int64_t halves = has_halves(form) ? 2 : 1;
  for (int64_t block = 0; block < stored.cols / kBlockNumbers; ++block, panel += block_bytes(form)) {
    const SubBlock sub = read_sub_block(stored.type, from, block);
    if (has_steps(form) && block % kBlocksPerUnit == 0) {
      put_half(panel, sub.unit);
      if (has_minima(form)) put_half(panel + 2 * kPanelOutputs, sub.minimum_unit);
      panel += unit_bytes(form);
    }
    std::array<uint32_t, 32> q{};
    for (size_t i = 0; i < q.size(); ++i) q[i] = static_cast<uint32_t>(sub.q[i] + quant_offset(form));
    put_integers(q, form, panel, output);
    std::byte* at = panel + quant_bytes(form);
    for (size_t h = 0; h < static_cast<size_t>(halves); ++h, at += factor_bytes(form) / halves) {
      has_steps(form) ? put_step(at, sub.steps[h]) : put_half(at, sub.factor[h]);
      if (!has_minima(form)) continue;
      std::byte* const minimum = at + factor_bytes(form);
      has_steps(form) ? put_step(minimum, sub.minimum_steps[h]) : put_half(minimum, sub.minimum[h]);
    }
  }
}

int64_t panel_bytes(PanelForm form, int64_t cols) {
  if (form == PanelForm::rows_of_bytes) return (cols + 3) / 4 * kGroupBytes + 4 * kPanelOutputs;
  const int64_t blocks = cols / kBlockNumbers;
  return blocks * block_bytes(form) + blocks / kBlocksPerUnit * unit_bytes(form);
}

}  // namespace

PanelForm panel_form(DType type) {
  if (type == DType::q8) return PanelForm::rows_of_bytes;
  if (type == DType::q4_0) return PanelForm::nibbles;
  const BlockType* blocks = block_type(type);
  if (!blocks) return PanelForm::bytes;
  if (blocks->halves)
    return blocks->bits == 6 ? PanelForm::halves_of_six_bits
           : blocks->affine  ? PanelForm::halves_of_nibbles_with_minima
                             : PanelForm::halves_of_nibbles;
  if (!blocks->affine) return blocks->bits == 8 ? PanelForm::bytes : PanelForm::five_bits;
  if (blocks->numbers > kBlockNumbers)
    return blocks->bits == 5 ? PanelForm::steps_of_five_bits_with_minima : PanelForm::steps_of_nibbles_with_minima;
  return blocks->bits == 5 ? PanelForm::five_bits_with_minima : PanelForm::nibbles_with_minima;
}

QuantizedMatrix pack_quantized(DType type, const void* numbers, const float* scales, int64_t rows, int64_t cols) {
  check(is_quantized(type), "[quantized] {} is no quantised type", name_of(type));
  check(type == DType::q8 || cols % block_numbers(type) == 0,
        "[quantized] {} inputs are no whole number of blocks of {}", cols, block_numbers(type));
  check(cols <= 1 << 16, "[quantized] {} inputs, at most 65536 can be summed: keep this matrix in float", cols);
  const Stored stored{type, static_cast<const std::byte*>(numbers), scales, rows, cols};
  const PanelForm form = panel_form(type);
  QuantizedMatrix packed{
      .type = type, .form = form, .rows = rows, .cols = cols, .panel_bytes = panel_bytes(form, cols)};
  packed.data = allocate_panels(packed.panels() * packed.panel_bytes);
  parallel_for(packed.panels(), [&](int64_t i) {
    std::byte* const panel = packed.data.get() + i * packed.panel_bytes;
    const int64_t first = i * kPanelOutputs, count = std::min(kPanelOutputs, rows - first);
    for (int64_t output = 0; output < count; ++output) {
      switch (type) {
        case DType::q8_0: pack_blocks<DType::q8_0>(stored, first + output, panel, output); break;
        case DType::q4_0: pack_blocks<DType::q4_0>(stored, first + output, panel, output); break;
        case DType::q8: pack_row(stored, first + output, panel, output); break;
        default: pack_sub_blocks(stored, first + output, panel, output, form);
      }
    }
  });
  return packed;
}

}  // namespace limpid::kernels
