#include "kernels/quantized_matrix.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/parallel.h"

namespace limpid::kernels {
namespace {

struct Stored {
  NumberType type;
  const std::byte* numbers;
  const float* factors;
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
template <NumberType type>
void pack_blocks(const Stored& stored, int64_t row, std::byte* panel, int64_t output) {
  constexpr int64_t groups = type == NumberType::q8_0 ? 8 : 4;
  const std::byte* from = stored.numbers + row * stored.row_bytes();
  for (int64_t block = 0; block < stored.cols / kBlockNumbers; ++block) {
    const std::byte* quants = from + 2;
    for (int64_t g = 0; g < groups; ++g) {
      uint32_t group = 0;
      std::memcpy(&group, quants + 4 * g, 4);
      put_group(panel + g * kGroupBytes, output, type == NumberType::q8_0 ? group ^ 0x80808080U : group);
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
  std::memcpy(panel + g * kGroupBytes + 4 * output, stored.factors + row, 4);
}

int64_t panel_bytes(NumberType type, int64_t cols) {
  if (type == NumberType::q8) return (cols + 3) / 4 * kGroupBytes + 4 * kPanelOutputs;
  return bytes_of(type, cols) * kPanelOutputs;
}

}  // namespace

QuantizedMatrix pack_quantized(NumberType type, const void* numbers, const float* factors, int64_t rows, int64_t cols) {
  check(is_quantized(type), "[quantized] {} is no quantised type", name_of(type));
  check(type == NumberType::q8 || cols % kBlockNumbers == 0,
        "[quantized] {} inputs are no whole number of blocks of {}", cols, kBlockNumbers);
  check(cols <= 1 << 16, "[quantized] {} inputs, at most 65536 can be summed: keep this matrix in float", cols);
  const Stored stored{type, static_cast<const std::byte*>(numbers), factors, rows, cols};
  QuantizedMatrix packed{.type = type, .rows = rows, .cols = cols, .panel_bytes = panel_bytes(type, cols)};
  packed.data = allocate_panels(packed.panels() * packed.panel_bytes);
  parallel_for(packed.panels(), [&](int64_t i) {
    std::byte* const panel = packed.data.get() + i * packed.panel_bytes;
    const int64_t first = i * kPanelOutputs, count = std::min(kPanelOutputs, rows - first);
    for (int64_t output = 0; output < count; ++output) {
      switch (type) {
        case NumberType::q8_0: pack_blocks<NumberType::q8_0>(stored, first + output, panel, output); break;
        case NumberType::q4_0: pack_blocks<NumberType::q4_0>(stored, first + output, panel, output); break;
        default: pack_row(stored, first + output, panel, output);
      }
    }
  });
  return packed;
}

}  // namespace limpid::kernels
