#include "tensor/quantize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/parallel.h"
#include "tensor/block_fit.h"
#include "tensor/block_types.h"
#include "tensor/block_writer.h"

namespace limpid {
namespace {

float largest(const real* x, int64_t n) {
  real most = 0;
  for (int64_t i = 0; i < n; ++i) most = std::max(most, std::abs(x[i]));
  return static_cast<float>(most);
}

void put_factor(std::byte* block, uint16_t half) { std::memcpy(block, &half, sizeof half); }

float factor_of(const std::byte* block) {
  uint16_t half = 0;
  std::memcpy(&half, block, sizeof half);
  return from_f16(half);
}

// round(x / d) within ±limit; zeros where d is zero.
int nearest(real x, float inverse, int low, int high) {
  return std::clamp(static_cast<int>(std::lrint(x * static_cast<real>(inverse))), low, high);
}

void quantize_bytes(const real* x, int64_t n, float factor, std::byte* q) {
  const float inverse = inverse_of(factor);
  for (int64_t i = 0; i < n; ++i) q[i] = static_cast<std::byte>(static_cast<int8_t>(nearest(x[i], inverse, -127, 127)));
}

void quantize_q8_0(const real* x, std::byte* block) {
  const uint16_t half = to_f16(largest(x, kBlockNumbers) / 127);
  put_factor(block, half);
  quantize_bytes(x, kBlockNumbers, from_f16(half), block + 2);
}

// One way to quantise a block to 4 bits, and its squared error.
struct FourBits {
  std::array<int, kBlockNumbers> q = {};
  uint16_t half = 0;
  double error = 0;

  FourBits(const real* x, float wanted) : half(to_f16(wanted)) {
    const float factor = from_f16(half), inverse = inverse_of(factor);
    for (int64_t i = 0; i < kBlockNumbers; ++i) {
      q[i] = nearest(x[i], inverse, -8, 7);
      const double off = static_cast<double>(x[i]) - static_cast<double>(factor) * q[i];
      error += off * off;
    }
  }
  // The factor with the least squared error for these q: Σ x·q / Σ q².
  float best_factor(const real* x) const {
    double xq = 0, qq = 0;
    for (int64_t i = 0; i < kBlockNumbers; ++i) {
      xq += static_cast<double>(x[i]) * q[i];
      qq += static_cast<double>(q[i]) * q[i];
    }
    return qq > 0 ? static_cast<float>(xq / qq) : 0;
  }
};

FourBits best_four_bits(const real* x) {
  const real* const most =
      std::max_element(x, x + kBlockNumbers, [](real a, real b) { return std::abs(a) < std::abs(b); });
  FourBits best(x, static_cast<float>(*most) / -8);
  for (const float end : {-9.2F, -8.6F, -8.3F, -7.7F, -7.4F, -7.0F, 7.0F, 7.4F, 7.8F}) {  // where the largest is put
    const FourBits tried(x, static_cast<float>(*most) / end);
    const FourBits fitted(x, tried.best_factor(x));
    const FourBits& better = fitted.error < tried.error ? fitted : tried;
    if (better.error < best.error) best = better;
  }
  return best;
}

void quantize_q4_0(const real* x, std::byte* block) {
  const FourBits best = best_four_bits(x);
  put_factor(block, best.half);
  for (int64_t i = 0; i < kBlockNumbers / 2; ++i)
    block[2 + i] = static_cast<std::byte>((best.q[i] + 8) | (best.q[i + kBlockNumbers / 2] + 8) << 4);
}

void quantize_blocks(const real* x, int64_t cols, const BlockType& type, std::byte* out) {
  const std::vector<float> numbers(x, x + cols);
  for (int64_t i = 0; i < cols; i += type.numbers, out += type.bytes) write_block(type.type, numbers.data() + i, out);
}

void dequantize_bytes(const std::byte* q, int64_t n, float factor, real* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<real>(factor * static_cast<float>(static_cast<int8_t>(q[i])));
}

void dequantize_q4_0(const std::byte* block, real* out) {
  const float factor = factor_of(block);
  for (int64_t i = 0; i < kBlockNumbers / 2; ++i) {
    const int byte = std::to_integer<int>(block[2 + i]);
    out[i] = static_cast<real>(factor * static_cast<float>((byte & 15) - 8));
    out[i + kBlockNumbers / 2] = static_cast<real>(factor * static_cast<float>((byte >> 4) - 8));
  }
}

void dequantize_sub_blocks(DType type, const std::byte* row, int64_t cols, real* out) {
  for (int64_t i = 0; i < cols; i += kBlockNumbers) {
    const SubBlock sub = read_sub_block(type, row, i / kBlockNumbers);
    for (size_t j = 0; j < sub.q.size(); ++j)
      *out++ = static_cast<real>(sub.factor[j / 16] * static_cast<float>(sub.q[j]) - sub.minimum[j / 16]);
  }
}

}  // namespace

void quantize_row(const real* numbers, int64_t cols, DType type, std::byte* out, float* factor,
                  const std::string& where) {
  check(std::all_of(numbers, numbers + cols, [](real x) { return std::isfinite(x); }),
        "{}: holds a number that is not finite: it cannot be quantised", where);
  if (type == DType::q8) {
    *factor = largest(numbers, cols) / 127;
    return quantize_bytes(numbers, cols, *factor, out);
  }
  const BlockType* blocks = block_type(type);
  check(is_blocked(type) && cols % block_numbers(type) == 0, "{}: rows of {} numbers cannot be {}", where, cols,
        name_of(type));
  check(largest(numbers, cols) < 127 * 65504.0F / 16, "{}: holds a number too large for a 16-bit factor", where);
  if (blocks) return quantize_blocks(numbers, cols, *blocks, out);
  for (int64_t i = 0; i < cols; i += kBlockNumbers, out += bytes_of(type, kBlockNumbers))
    type == DType::q8_0 ? quantize_q8_0(numbers + i, out) : quantize_q4_0(numbers + i, out);
}

void dequantize_row(DType type, const std::byte* numbers, float factor, int64_t cols, real* out) {
  if (type == DType::q8) return dequantize_bytes(numbers, cols, factor, out);
  if (block_type(type)) return dequantize_sub_blocks(type, numbers, cols, out);
  for (int64_t i = 0; i < cols; i += kBlockNumbers, numbers += bytes_of(type, kBlockNumbers)) {
    if (type == DType::q8_0)
      dequantize_bytes(numbers + 2, kBlockNumbers, factor_of(numbers), out + i);
    else
      dequantize_q4_0(numbers, out + i);
  }
}

void read_rows(const Weight& weight, int64_t first, int64_t count, real* out) {
  check(weight.data != nullptr, "[weight] {} has no numbers yet: load or initialise the model first", weight.name);
  const int64_t cols = weight.shape[1], bytes = bytes_of(weight.type, cols);
  for (int64_t i = 0; i < count; ++i) {
    const std::byte* const row = static_cast<const std::byte*>(weight.data) + (first + i) * bytes;
    if (is_quantized(weight.type))
      dequantize_row(weight.type, row, weight.scales ? weight.scales[first + i] : 0, cols, out + i * cols);
    else
      to_real(weight.type, row, cols, out + i * cols);
  }
}

void read_numbers(const Weight& weight, real* out) {
  check(weight.data != nullptr, "[weight] {} has no numbers yet: load or initialise the model first", weight.name);
  if (!is_quantized(weight.type)) return to_real(weight.type, weight.data, weight.size(), out);
  parallel_ranges(weight.shape[0], 64, [&](int64_t begin, int64_t end) {
    read_rows(weight, begin, end - begin, out + begin * weight.shape[1]);
  });
}

}  // namespace limpid
