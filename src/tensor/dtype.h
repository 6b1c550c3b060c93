#pragma once
// DType: how a number lies in a file or in a weight, and its conversion to and from `real`.
//
//   type   sign exponent fraction   largest    smallest normal
//   f64      1      11       52     1.8e308    2.2e-308
//   f32      1       8       23     3.4e38     1.2e-38
//   f16      1       5       10     65504      6.1e-5
//   bf16     1       8        7     3.4e38     1.2e-38
//
// Narrowing rounds to nearest, ties to even (IEEE 754), beyond the largest to infinity; NaN stays NaN.
//
// Quantised types keep small integers q and scales d, and lie in rows:
//
//   q8_0   GGUF's: blocks of 32 numbers, each 34 bytes: d (f16), 32 signed bytes          x = d·q
//   q4_0   GGUF's: blocks of 32 numbers, each 18 bytes: d (f16), 16 bytes whose low halves are the first 16 numbers
//          and whose high halves the last 16                                              x = d·(q − 8)
//   q8     signed bytes, and one scale (f32) per row, which lies elsewhere                x = d·q
//   others GGUF's block types: tensor/block_types.h

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/real.h"

namespace limpid {

enum class DType : uint8_t {
  f64,
  f32,
  f16,
  bf16,
  q8_0,
  q4_0,
  q8,
  q4_1,
  q5_0,
  q5_1,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl
};

inline constexpr DType kRealType = sizeof(real) == 8 ? DType::f64 : DType::f32;
inline constexpr int64_t kBlockNumbers = 32;  // of q8_0 and q4_0; others: block_numbers()

constexpr bool is_quantized(DType type) { return type >= DType::q8_0; }
constexpr bool is_blocked(DType type) { return is_quantized(type) && type != DType::q8; }

// Bytes that `count` numbers take: of blocked types a whole number of blocks.
int64_t bytes_of(DType type, int64_t count = 1);

// Where numbers of a type may lie: multiples of so many bytes.
int64_t alignment_of(DType type);

// "F64", "F32", "F16", "BF16": as safetensors, Hugging Face and GGUF write them; "Q8_0", "Q4_K", …: as GGUF does; "Q8".
std::string_view name_of(DType type);
std::optional<DType> dtype_named(std::string_view name);

// Numbers of a type, at any alignment, to reals; and reals to a type. In parallel; the same bits with any number of
// threads and any instruction set. `out` must not overlap the input. Quantised types: tensor/quantize.h.
void to_real(DType type, const void* numbers, int64_t count, real* out);
void from_real(const real* numbers, int64_t count, DType type, void* out);

// One number at a time: 16-bit types are passed as their bits.

// condition ? a : b without a branch. A plain ?: around floating-point arithmetic keeps gcc from using SIMD.
constexpr uint32_t select_bits(bool condition, uint32_t a, uint32_t b) {
  return b ^ ((a ^ b) & (0u - static_cast<uint32_t>(condition)));
}

constexpr float from_f16(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t magnitude = (bits & 0x7fffu) << 13;  // exponent and fraction where float has them
  const uint32_t rebias = (127 - 15) << 23;
  const uint32_t top = select_bits(magnitude >= 31u << 23, rebias, 0);  // exponent 31, infinity or NaN, becomes 255
  // Subnormal, fraction · 2⁻²⁴: with the exponent of 2⁻¹⁴ it reads 2⁻¹⁴ + fraction · 2⁻²⁴.
  const float shifted = std::bit_cast<float>(magnitude + ((127 - 14) << 23));
  const auto subnormal = std::bit_cast<uint32_t>(shifted - 0x1p-14f);
  return std::bit_cast<float>(sign | select_bits(magnitude < 1u << 23, subnormal, magnitude + rebias + top));
}

constexpr uint16_t to_f16(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Half a unit less one, and one more if the last bit that stays is odd: a carry rounds up, into the exponent if need
  // be.
  const uint32_t normal = (magnitude - ((127 - 15) << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // A unit of 0.5 is 2⁻²⁴, as of a subnormal f16: the sum rounds where we want it.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
  const uint32_t quiet_nan = 0x7e00u | ((magnitude >> 13) & 0x1ffu);
  uint32_t half = select_bits(magnitude < std::bit_cast<uint32_t>(0x1p-14f), subnormal, normal);
  half = select_bits(magnitude >= std::bit_cast<uint32_t>(65520.0f), 0x7c00u, half);  // half way from 65504 to 2¹⁶
  half = select_bits(magnitude > 0x7f800000u, quiet_nan, half);
  return static_cast<uint16_t>(sign | half);
}

// bf16 is the upper half of a float.
constexpr float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

constexpr uint16_t to_bf16(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t quiet_nan = (bits >> 16) | 0x40u;
  return static_cast<uint16_t>(select_bits((bits & 0x7fffffffu) > 0x7f800000u, quiet_nan, rounded));
}

// double to float, to the odd one of its two neighbours unless exact: rounding the result to 16 bits then equals
// rounding the double once (Boldo & Melquiond 2008), where two roundings to nearest would now and then differ.
constexpr float round_to_odd(double number) {
  const auto nearest = static_cast<float>(number);
  const auto back = static_cast<double>(nearest);
  if (back == number || number != number) return nearest;
  const bool away_from_zero = number < 0 ? back < number : back > number;
  return std::bit_cast<float>((std::bit_cast<uint32_t>(nearest) - (away_from_zero ? 1u : 0u)) | 1u);
}

constexpr uint16_t to_f16(double number) { return to_f16(round_to_odd(number)); }
constexpr uint16_t to_bf16(double number) { return to_bf16(round_to_odd(number)); }

}  // namespace limpid
