#include "tensor/block_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "tensor/block_fit.h"

namespace limpid {
namespace {

constexpr int kNumbers = 256;  // of a block of groups

void put_half(std::byte* at, float value) {
  const uint16_t half = to_f16(value);
  std::memcpy(at, &half, sizeof half);
}

void add_bits(std::byte& byte, int bits, int shift) { byte |= static_cast<std::byte>((bits << shift) & 0xff); }

// How a type of groups is made.
struct GroupType {
  int group;  // numbers with a factor of their own
  QuantRange range;
  int low, high;  // of a group's factor s; minima t begin at zero
  int count() const { return kNumbers / group; }
};

// A block of groups: x = D·s·q − M·t.
struct Groups {
  float d = 0, m = 0;  // D and M, as 16 bits keep them
  std::array<int, 16> s = {}, t = {};
  std::array<GroupFit, 16> fits = {};
  float error = 0;
};

float half_of(float value) { return from_f16(to_f16(value)); }

int step_of(float value, float unit, int low, int high) {
  return unit != 0 ? std::clamp(static_cast<int>(std::lrint(value / unit)), low, high) : 0;
}

// The integers of all groups for D and M, s and t near the wanted factors and minima.
Groups with_units(const float* x, const GroupType& type, const Groups& wanted, float d, float m) {
  Groups result{.d = half_of(d), .m = half_of(m)};
  for (int g = 0; g < type.count(); ++g) {
    const auto at = static_cast<size_t>(g);
    const int s = step_of(wanted.fits[at].factor, result.d, type.low, type.high);
    const int t = step_of(wanted.fits[at].minimum, result.m, 0, type.high);
    const int reach = type.range.affine ? 1 : 0;
    bool first = true;
    for (int si = std::max(s - 1, type.low); si <= std::min(s + 1, type.high); ++si)
      for (int ti = std::max(t - reach, 0); ti <= std::min(t + reach, type.high); ++ti) {
        GroupFit fit = nearest_quants(x + g * type.group, type.group, type.range, result.d * static_cast<float>(si),
                                      result.m * static_cast<float>(ti));
        if (!first && fit.error >= result.fits[at].error) continue;
        first = false;
        result.fits[at] = fit;
        result.s[at] = si;
        result.t[at] = ti;
      }
    result.error += result.fits[at].error;
  }
  return result;
}

// The D and M with the least squared error for the integers found: x ≈ D·a + M·b with a = s·q and b = −t.
std::pair<float, float> best_units(const float* x, const GroupType& type, const Groups& groups) {
  double aa = 0, ab = 0, bb = 0, xa = 0, xb = 0;
  for (int i = 0; i < kNumbers; ++i) {
    const auto g = static_cast<size_t>(i / type.group);
    const double a = groups.s[g] * static_cast<double>(groups.fits[g].q[static_cast<size_t>(i % type.group)]);
    const double b = -groups.t[g], number = static_cast<double>(x[i]);
    aa += a * a, ab += a * b, bb += b * b, xa += number * a, xb += number * b;
  }
  const double det = aa * bb - ab * ab;
  if (!(det > 0)) return {static_cast<float>(aa > 0 ? xa / aa : 0), groups.m};
  return {static_cast<float>((xa * bb - xb * ab) / det), static_cast<float>((xb * aa - xa * ab) / det)};
}

Groups best_groups(const float* x, const GroupType& type) {
  Groups wanted;
  float most = 0, minimum = 0;  // the factor of largest magnitude, the largest minimum
  for (int g = 0; g < type.count(); ++g) {
    GroupFit& fit = wanted.fits[static_cast<size_t>(g)];
    fit = best_fit(x + g * type.group, type.group, type.range, true);
    if (std::abs(fit.factor) > std::abs(most)) most = fit.factor;
    minimum = std::max(minimum, fit.minimum);
  }
  const auto end = static_cast<float>(type.range.affine ? type.high : type.low);
  Groups best = with_units(x, type, wanted, most / end, minimum / static_cast<float>(type.high));
  Groups last = best;
  for (int round = 0; round < 3; ++round) {
    const auto [d, m] = best_units(x, type, last);
    if (type.range.affine && (d <= 0 || m < 0)) break;
    last = with_units(x, type, last, d, m);
    if (last.error < best.error) best = last;
  }
  return best;
}

// A number of the block as it is stored, from zero on.
class Stored {
 public:
  Stored(const Groups& groups, const GroupType& type) : groups_(groups), type_(type) {}
  int operator()(int index, int i) const {  // number i of the 32 at `index`
    const int at = 32 * index + i;
    const float q = groups_.fits[static_cast<size_t>(at / type_.group)].q[static_cast<size_t>(at % type_.group)];
    return static_cast<int>(q - type_.range.low);
  }

 private:
  const Groups& groups_;
  const GroupType& type_;
};

// Eight pairs of 6 bits in twelve bytes: see pair_of_six in tensor/block_types.cpp.
void put_pairs_of_six(const Groups& groups, std::byte* at) {
  for (size_t i = 0; i < 4; ++i) {
    add_bits(at[i], groups.s[i], 0);
    add_bits(at[i], groups.s[i + 4] >> 4, 6);
    add_bits(at[i + 4], groups.t[i], 0);
    add_bits(at[i + 4], groups.t[i + 4] >> 4, 6);
    add_bits(at[i + 8], groups.s[i + 4] & 15, 0);
    add_bits(at[i + 8], groups.t[i + 4] & 15, 4);
  }
}

void put_q4_k(const Groups& groups, const Stored& stored, bool fifth_bit, std::byte* out) {
  put_half(out, groups.d);
  put_half(out + 2, groups.m);
  put_pairs_of_six(groups, out + 4);
  for (int index = 0; index < 8; ++index)
    for (int i = 0; i < 32; ++i) {
      const int q = stored(index, i);
      add_bits(out[(fifth_bit ? 48 : 16) + 32 * (index / 2) + i], q & 15, 4 * (index % 2));
      if (fifth_bit) add_bits(out[16 + i], q >> 4, index);
    }
}

void put_q2_k(const Groups& groups, const Stored& stored, std::byte* out) {
  for (size_t g = 0; g < 16; ++g) out[g] = static_cast<std::byte>(groups.s[g] | groups.t[g] << 4);
  put_half(out + 80, groups.d);
  put_half(out + 82, groups.m);
  for (int index = 0; index < 8; ++index)
    for (int i = 0; i < 32; ++i) add_bits(out[16 + 32 * (index / 4) + i], stored(index, i), 2 * (index % 4));
}

void put_q3_k(const Groups& groups, const Stored& stored, std::byte* out) {
  for (int g = 0; g < 16; ++g) {
    const int s = groups.s[static_cast<size_t>(g)] + 32;
    add_bits(out[96 + g % 8], s & 15, g < 8 ? 0 : 4);
    add_bits(out[104 + g % 4], s >> 4, 2 * (g / 4));
  }
  put_half(out + 108, groups.d);
  for (int index = 0; index < 8; ++index)
    for (int i = 0; i < 32; ++i) {
      const int q = stored(index, i);
      add_bits(out[32 + 32 * (index / 4) + i], q & 3, 2 * (index % 4));
      add_bits(out[i], q >> 2, index);
    }
}

void put_q6_k(const Groups& groups, const Stored& stored, std::byte* out) {
  for (size_t g = 0; g < 16; ++g) out[192 + g] = static_cast<std::byte>(static_cast<int8_t>(groups.s[g]));
  put_half(out + 208, groups.d);
  for (int index = 0; index < 8; ++index)
    for (int i = 0; i < 32; ++i) {
      const int q = stored(index, i), half = index / 4, quarter = index % 4;
      add_bits(out[64 * half + 32 * (quarter % 2) + i], q & 15, quarter < 2 ? 0 : 4);
      add_bits(out[128 + 32 * half + i], q >> 4, 2 * quarter);
    }
}

GroupType group_type(DType type) {
  if (type == DType::q2_k) return {16, {0, 3, true}, 0, 15};
  if (type == DType::q3_k) return {16, {-4, 3, false}, -32, 31};
  if (type == DType::q4_k) return {32, {0, 15, true}, 0, 63};
  if (type == DType::q5_k) return {32, {0, 31, true}, 0, 63};
  return {16, {-32, 31, false}, -128, 127};  // q6_K
}

void write_groups(DType type, const float* x, std::byte* out) {
  const GroupType how = group_type(type);
  const Groups groups = best_groups(x, how);
  const Stored stored(groups, how);
  if (type == DType::q2_k) return put_q2_k(groups, stored, out);
  if (type == DType::q3_k) return put_q3_k(groups, stored, out);
  if (type == DType::q6_k) return put_q6_k(groups, stored, out);
  put_q4_k(groups, stored, type == DType::q5_k, out);
}

// q4_1, q5_0, q5_1: one group, factor and minimum in 16 bits.
void write_one_group(DType type, const float* x, std::byte* out) {
  const bool affine = type != DType::q5_0, fifth_bit = type != DType::q4_1;
  const QuantRange range{affine ? 0.0F : -16.0F, fifth_bit ? (affine ? 31.0F : 15.0F) : 15.0F, affine};
  const GroupFit wanted = best_fit(x, 32, range, false);
  const GroupFit fit = nearest_quants(x, 32, range, half_of(wanted.factor), half_of(wanted.minimum));
  put_half(out, fit.factor);
  if (affine) put_half(out + 2, -fit.minimum);
  std::byte* const bits = out + (affine ? 4 : 2);
  std::byte* const nibbles = fifth_bit ? bits + 4 : bits;
  for (int i = 0; i < 32; ++i) {
    const int q = static_cast<int>(fit.q[static_cast<size_t>(i)] - range.low);
    add_bits(nibbles[i % 16], q & 15, i < 16 ? 0 : 4);
    if (fifth_bit) add_bits(bits[i / 8], q >> 4, i % 8);
  }
}

size_t nearest_level(float value) {
  size_t best = 0;
  for (size_t i = 1; i < kFourBitLevels.size(); ++i)
    if (std::abs(value - static_cast<float>(kFourBitLevels[i])) <
        std::abs(value - static_cast<float>(kFourBitLevels[best])))
      best = i;
  return best;
}

// iq4_nl: the factor of the least error among those that bring the largest number near an end of the list.
void write_levels(const float* x, std::byte* out) {
  const float largest = *std::max_element(x, x + 32, [](float a, float b) { return std::abs(a) < std::abs(b); });
  float best = 0, least = INFINITY;
  const auto error_of = [&](float factor) {
    float error = 0;
    for (int i = 0; i < 32; ++i) {
      const float q = factor == 0 ? 0 : static_cast<float>(kFourBitLevels[nearest_level(x[i] / factor)]);
      error += (x[i] - factor * q) * (x[i] - factor * q);
    }
    return error;
  };
  for (int step = -8; step <= 8; ++step)
    for (const int8_t end : {kFourBitLevels.front(), kFourBitLevels.back()}) {
      const float factor = half_of(largest / (static_cast<float>(end) + 2 * static_cast<float>(step)));
      if (const float error = error_of(factor); error < least) best = factor, least = error;
    }
  put_half(out, best);
  for (int i = 0; i < 32; ++i) {
    const auto q = static_cast<int>(nearest_level(best == 0 ? 0 : x[i] / best));
    add_bits(out[2 + i % 16], q, i < 16 ? 0 : 4);
  }
}

}  // namespace

void write_block(DType type, const float* numbers, std::byte* out) {
  const BlockType* kind = block_type(type);
  check(kind != nullptr, "[block types] {} is none", static_cast<int>(type));
  std::memset(out, 0, static_cast<size_t>(kind->bytes));
  if (type == DType::iq4_nl) return write_levels(numbers, out);
  kind->numbers == kNumbers ? write_groups(type, numbers, out) : write_one_group(type, numbers, out);
}

}  // namespace limpid
