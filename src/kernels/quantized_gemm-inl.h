// The product of one panel of a quantised matrix with some rows, for each instruction set: hence the guard that is
// toggled. Include after kernels/simd.h and hwy/foreach_target.h.
#if defined(LIMPID_KERNELS_QUANTIZED_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_KERNELS_QUANTIZED_GEMM_INL_H_
#undef LIMPID_KERNELS_QUANTIZED_GEMM_INL_H_
#else
#define LIMPID_KERNELS_QUANTIZED_GEMM_INL_H_
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/instruction_set.h"
#include "kernels/quantized_matrix.h"
#include "kernels/quantized_rows.h"
#include "kernels/simd-inl.h"
#include "kernels/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {

using kernels::kBlocksPerUnit;
using kernels::kGroupBytes;
using kernels::kPanelOutputs;
using kernels::PanelForm;
using kernels::QuantizedMatrix;
using kernels::QuantizedRows;

using Sums = hn::ScalableTag<int32_t>;  // one output per lane
using SumVec = hn::Vec<Sums>;
using Factors = hn::ScalableTag<float>;
using FactorVec = hn::Vec<Factors>;

// A tile is some rows of x by some vectors of outputs, so many that their sums, the weights and a number of x fit the
// registers.
inline constexpr int kSumLanes = static_cast<int>(hn::MaxLanes(Sums()));  // 16, 8, 4 or 1
inline constexpr int kTileVectors = HWY_TARGET == HWY_SCALAR ? 1 : kSumLanes == 16 ? 4 : 2;
inline constexpr int kTileRows = HWY_TARGET == HWY_SCALAR ? 1 : kSumLanes == 16 ? 6 : 4;
inline constexpr int kTileOutputs = kTileVectors * kSumLanes;

// Four inputs of x for all lanes.
HWY_INLINE SumVec broadcast_group(const int8_t* x) {
  int32_t group;
  std::memcpy(&group, x, 4);
  return hn::Set(Sums(), group);
}

// Whether add_products can be an instruction here, of processors that have it (AVX-512 VNNI).
inline constexpr bool kMayHaveDotProducts = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3;

// sum += Σ w·x over the four bytes of a lane, w unsigned, x signed; exact.
template <bool kDotProducts>
HWY_INLINE SumVec add_products(SumVec sum, SumVec w, SumVec x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (kDotProducts) {
    // The compiler does not know that the processor has it, so it must be told by its assembler.
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(w.raw), "v"(x.raw));
    return sum;
  }
#endif
#if HWY_TARGET == HWY_SCALAR
  const auto weights = static_cast<uint32_t>(hn::GetLane(w)), inputs = static_cast<uint32_t>(hn::GetLane(x));
  int32_t total = hn::GetLane(sum);
  for (int i = 0; i < 32; i += 8)
    total += static_cast<int32_t>((weights >> i) & 0xffU) * static_cast<int8_t>((inputs >> i) & 0xffU);
  return hn::Set(Sums(), total);
#else
  const hn::Repartition<int16_t, Sums> d16;
  const hn::Repartition<uint16_t, Sums> du16;
  const auto weights = hn::BitCast(du16, w);
  const auto w_even = hn::BitCast(d16, hn::And(weights, hn::Set(du16, uint16_t{0xff})));
  const auto w_odd = hn::BitCast(d16, hn::ShiftRight<8>(weights));
  const auto inputs = hn::BitCast(d16, x);
  const auto x_even = hn::ShiftRight<8>(hn::ShiftLeft<8>(inputs));
  const auto x_odd = hn::ShiftRight<8>(inputs);
  SumVec other = hn::Zero(Sums());
  SumVec pairs = hn::ReorderWidenMulAccumulate(Sums(), w_even, x_even, hn::Zero(Sums()), other);
  pairs = hn::ReorderWidenMulAccumulate(Sums(), w_odd, x_odd, pairs, other);
  return hn::Add(sum, hn::RearrangeToOddPlusEven(pairs, other));
#endif
}

HWY_INLINE FactorVec load_halves(const std::byte* halves, int output) {
  const hn::Rebind<hwy::float16_t, Factors> d16;
  return hn::PromoteTo(Factors(), hn::Load(d16, reinterpret_cast<const hwy::float16_t*>(halves) + output));
}

// Scales or minima of a block's outputs: numbers of their own, or steps of a unit.
template <PanelForm form>
HWY_INLINE FactorVec load_factors(const std::byte* factors, const std::byte* units, int output) {
  if constexpr (!has_steps(form)) return load_halves(factors, output);
  const hn::Rebind<int8_t, Sums> d8;
  const auto steps = hn::PromoteTo(Sums(), hn::Load(d8, reinterpret_cast<const int8_t*>(factors) + output));
  return hn::Mul(load_halves(units, output), hn::ConvertTo(Factors(), steps));
}

template <int R, bool kDotProducts>
struct TileRows {
  const int8_t* quants[R];
  const float* scales[R];
  const int32_t* starts[R];

  TileRows(const QuantizedRows& rows, int64_t first) {
    for (int r = 0; r < R; ++r) {
      quants[r] = rows.quants(first + r);
      scales[r] = rows.scales(first + r);
      starts[r] = rows.starts(first + r);
    }
  }
};

template <int R>
using TileSums = SumVec[R][kTileVectors];

// The products of a group of four inputs, the first of which is `input`, into all sums of a tile; weight(v) are the
// weights of vector v as bytes.
template <int R, bool D, class Weights>
HWY_INLINE void multiply_group(const TileRows<R, D>& x, int64_t input, TileSums<R>& sums, const Weights& weight) {
  SumVec w[kTileVectors];
  unroll<kTileVectors>([&](auto v) HWY_ATTR { w[v] = weight(static_cast<int>(v)); });
  unroll<R>([&](auto r) HWY_ATTR {
    const SumVec group = broadcast_group(x.quants[r] + input);
    unroll<kTileVectors>([&](auto v) HWY_ATTR { sums[r][v] = add_products<D>(sums[r][v], w[v], group); });
  });
}

// A vector of a group's words.
HWY_INLINE SumVec load_group(const std::byte* group, int output, int v) {
  return hn::Load(Sums(), reinterpret_cast<const int32_t*>(group) + output + v * kSumLanes);
}

// Groups of whole bytes.
template <int R, bool D>
HWY_INLINE void multiply_bytes(const std::byte* groups, int64_t count, const TileRows<R, D>& x, int64_t input,
                               int output, TileSums<R>& sums) {
  for (int64_t g = 0; g < count; ++g, groups += kGroupBytes, input += 4)
    multiply_group<R>(x, input, sums, [&](int v) HWY_ATTR { return load_group(groups, output, v); });
}

HWY_INLINE SumVec low_halves(SumVec bytes) { return hn::And(bytes, hn::Set(Sums(), 0x0f0f0f0f)); }

template <int kBits>
HWY_INLINE SumVec shifted(SumVec words) {  // to the left, or by less than nothing to the right
  if constexpr (kBits > 0)
    return hn::ShiftLeft<kBits>(words);
  else
    return hn::ShiftRight<-kBits>(words);
}

// The first or second 16 of 32 inputs, of which a group has the lower four bits and further groups those above.
template <PanelForm form, int kHalf, int R, bool D>
HWY_INLINE void multiply_nibbles(const std::byte* panel, const TileRows<R, D>& x, int64_t input, int output,
                                 TileSums<R>& sums) {
  constexpr int above = bits_above_nibbles(form);
  unroll<4>([&](auto g) HWY_ATTR {
    constexpr int group = static_cast<int>(decltype(g)::value);
    multiply_group<R>(x, input + 4 * group, sums, [&](int v) HWY_ATTR {
      const SumVec both = load_group(panel + group * kGroupBytes, output, v);
      const SumVec low = low_halves(shifted<-4 * kHalf>(both));
      if constexpr (above == 0) return low;
      constexpr int at = above == 1 ? 4 * kHalf + group : 2 * group;  // where the bits begin
      const SumVec top = load_group(panel + (above == 1 ? 4 : 4 + kHalf) * kGroupBytes, output, v);
      const SumVec mask = hn::Set(Sums(), above == 1 ? 0x10101010 : 0x30303030);
      return hn::Or(low, hn::And(shifted<4 - at>(top), mask));
    });
  });
}

template <int R, bool D>
HWY_INLINE void start_sums(const TileRows<R, D>& x, int64_t block, bool from_zero, TileSums<R>& sums) {
  unroll<R>([&](auto r) HWY_ATTR {
    const SumVec start = hn::Set(Sums(), from_zero ? 0 : x.starts[r][block]);
    unroll<kTileVectors>([&](auto v) HWY_ATTR { sums[r][v] = start; });
  });
}

// Where the numbers of a tile stand: R rows, the first output of the panel at `data`.
struct TileOut {
  float* data;
  int64_t stride;
};

// A tile of few rows waits for memory: its sums stay in registers, and what comes next is asked for meanwhile.
template <int R>
inline constexpr bool kFew = R <= 2;
inline constexpr int64_t kAhead = 4096;  // bytes

template <int R>
using TileFloats = FactorVec[R][kTileVectors];

// One factor's share of block b, all of it or a half, into the sums of a tile: those held, or where the results go.
template <PanelForm form, int kPart, int R, bool D>
HWY_INLINE void multiply_part(const std::byte* panel, const std::byte* units, int64_t b, const TileRows<R, D>& x,
                              int output, TileFloats<R>& held, TileOut out) {
  constexpr int parts = has_halves(form) ? 2 : 1;
  constexpr int64_t half_inputs = kBlockNumbers / 2;
  const Factors d;
  TileSums<R> sums;
  start_sums<R>(x, b * parts + kPart, has_minima(form), sums);
  const int64_t input = b * kBlockNumbers;
  if constexpr (has_nibbles(form)) {
    if constexpr (kPart == 0) multiply_nibbles<form, 0, R>(panel, x, input, output, sums);
    if constexpr (parts == 1 || kPart == 1) multiply_nibbles<form, 1, R>(panel, x, input + half_inputs, output, sums);
  } else {
    multiply_bytes<R>(panel, 8, x, input, output, sums);
  }
  const std::byte* const scales = panel + quant_bytes(form) + kPart * (factor_bytes(form) / parts);
  unroll<kTileVectors>([&](auto v) HWY_ATTR {
    const int lane = output + static_cast<int>(v) * kSumLanes;
    const FactorVec factor = load_factors<form>(scales, units, lane);
    unroll<R>([&](auto r) HWY_ATTR {
      float* const at = out.data + r * out.stride + lane;
      const FactorVec both = hn::Mul(factor, hn::Set(d, x.scales[r][b]));
      FactorVec sum = kFew<R> ? held[r][v] : hn::LoadU(d, at);
      sum = hn::MulAdd(hn::ConvertTo(d, sums[r][v]), both, sum);
      if constexpr (has_minima(form)) {
        const float inputs = x.scales[r][b] * static_cast<float>(x.starts[r][b * parts + kPart]);
        const FactorVec minimum = load_factors<form>(scales + factor_bytes(form), units + 2 * kPanelOutputs, lane);
        sum = hn::NegMulAdd(minimum, hn::Set(d, inputs), sum);
      }
      if constexpr (kFew<R>)
        held[r][v] = sum;
      else
        hn::StoreU(sum, d, at);
    });
  });
}

// W with scales for blocks of 32 inputs. `start`: what a panel's outputs are added to.
template <PanelForm form, int R, bool D>
HWY_INLINE void multiply_blocks(const std::byte* panel, int64_t blocks, const TileRows<R, D>& x, int output,
                                const float* start, TileOut out) {
  const Factors d;
  TileFloats<R> held;
  unroll<R>([&](auto r) HWY_ATTR {
    unroll<kTileVectors>([&](auto v) HWY_ATTR {
      const int lane = output + static_cast<int>(v) * kSumLanes;
      held[r][v] = hn::Load(d, start + lane);
      if constexpr (!kFew<R>) hn::StoreU(held[r][v], d, out.data + r * out.stride + lane);
    });
  });
  const std::byte* units = panel;
  for (int64_t b = 0; b < blocks; ++b, panel += block_bytes(form)) {
    if (has_steps(form) && b % kBlocksPerUnit == 0) {
      units = panel;
      panel += unit_bytes(form);
    }
    if (kFew<R> && output == 0)
      for (int64_t i = 0; i < block_bytes(form); i += 64) hwy::Prefetch(panel + kAhead + i);
    multiply_part<form, 0, R>(panel, units, b, x, output, held, out);
    if constexpr (has_halves(form)) multiply_part<form, 1, R>(panel, units, b, x, output, held, out);
  }
  if constexpr (kFew<R>)
    unroll<R>([&](auto r) HWY_ATTR {
      unroll<kTileVectors>([&](auto v) HWY_ATTR {
        hn::StoreU(held[r][v], d, out.data + r * out.stride + output + static_cast<int>(v) * kSumLanes);
      });
    });
}

// W with one scale per output.
template <int R, bool D>
HWY_INLINE void multiply_rows(const std::byte* panel, int64_t groups, const TileRows<R, D>& x, int output,
                              const float* start, TileOut out) {
  const Factors d;
  TileSums<R> sums;
  start_sums<R>(x, 0, false, sums);
  multiply_bytes<R>(panel, groups, x, 0, output, sums);
  panel += groups * kGroupBytes;
  unroll<kTileVectors>([&](auto v) HWY_ATTR {
    const FactorVec factor = hn::Load(d, reinterpret_cast<const float*>(panel) + output + v * kSumLanes);
    const FactorVec begin = hn::Load(d, start + output + v * kSumLanes);
    unroll<R>([&](auto r) HWY_ATTR {
      const FactorVec both = hn::Mul(factor, hn::Set(d, x.scales[r][0]));
      hn::StoreU(hn::MulAdd(hn::ConvertTo(d, sums[r][v]), both, begin), d,
                 out.data + r * out.stride + output + v * kSumLanes);
    });
  });
}

// Flattened: with this many forms the compiler would leave some of the steps as calls, and their sums in memory.
template <PanelForm form, int R, bool D>
HWY_NOINLINE HWY_FLATTEN void multiply_tile(const QuantizedMatrix& w, const std::byte* panel, const QuantizedRows& rows,
                                            int64_t first, const float* start, Matrix y) {
  // A whole panel of floats is written where it belongs.
  HWY_ALIGN float results[R * kPanelOutputs];
  const bool in_place = std::is_same_v<real, float> && y.cols == kPanelOutputs;
  const TileOut out = in_place ? TileOut{reinterpret_cast<float*>(y.data), y.stride} : TileOut{results, kPanelOutputs};
  const TileRows<R, D> x(rows, first);
  for (int output = 0; output < kPanelOutputs; output += kTileOutputs) {
    if constexpr (form == PanelForm::rows_of_bytes)
      multiply_rows<R>(panel, (w.cols + 3) / 4, x, output, start, out);
    else
      multiply_blocks<form, R>(panel, w.cols / kBlockNumbers, x, output, start, out);
  }
  if (in_place) return;
  for (int r = 0; r < R; ++r) std::copy_n(results + r * kPanelOutputs, y.cols, y.row(r));
}

constexpr int smaller_tile(int rows) { return rows > 2 ? rows - 2 : 1; }  // 6, 4, 2, 1

// Tiles of R rows, and what remains in smaller ones.
template <PanelForm form, int R, bool D>
void multiply_tiles(const QuantizedMatrix& w, const std::byte* panel, const QuantizedRows& rows, int64_t first,
                    const float* start, Matrix y) {
  int64_t i = 0;
  for (; i + R <= y.rows; i += R) multiply_tile<form, R, D>(w, panel, rows, first + i, start, y.rows_from(i, R));
  if constexpr (R > 1) {
    if (i < y.rows)
      multiply_tiles<form, smaller_tile(R), D>(w, panel, rows, first + i, start, y.rows_from(i, y.rows - i));
  }
}

// y = rows[first…]·panelᵀ (+ bias): y has as many columns as the panel has outputs.
template <bool D>
void multiply_panel_by(const QuantizedMatrix& w, int64_t panel, const QuantizedRows& rows, int64_t first,
                       const real* bias, Matrix y) {
  const std::byte* const at = w.panel(panel);
  HWY_ALIGN float start[kPanelOutputs] = {};
  if (bias) std::transform(bias, bias + y.cols, start, [](real b) { return static_cast<float>(b); });
  const auto multiply = [&]<PanelForm form>(std::integral_constant<PanelForm, form>)
                            HWY_ATTR { multiply_tiles<form, kTileRows, D>(w, at, rows, first, start, y); };
  switch (w.form) {
    case PanelForm::rows_of_bytes: return multiply(std::integral_constant<PanelForm, PanelForm::rows_of_bytes>());
    case PanelForm::bytes: return multiply(std::integral_constant<PanelForm, PanelForm::bytes>());
    case PanelForm::nibbles: return multiply(std::integral_constant<PanelForm, PanelForm::nibbles>());
    case PanelForm::five_bits: return multiply(std::integral_constant<PanelForm, PanelForm::five_bits>());
    case PanelForm::nibbles_with_minima:
      return multiply(std::integral_constant<PanelForm, PanelForm::nibbles_with_minima>());
    case PanelForm::five_bits_with_minima:
      return multiply(std::integral_constant<PanelForm, PanelForm::five_bits_with_minima>());
    case PanelForm::steps_of_nibbles_with_minima:
      return multiply(std::integral_constant<PanelForm, PanelForm::steps_of_nibbles_with_minima>());
    case PanelForm::steps_of_five_bits_with_minima:
      return multiply(std::integral_constant<PanelForm, PanelForm::steps_of_five_bits_with_minima>());
    case PanelForm::halves_of_six_bits:
      return multiply(std::integral_constant<PanelForm, PanelForm::halves_of_six_bits>());
    case PanelForm::halves_of_nibbles:
      return multiply(std::integral_constant<PanelForm, PanelForm::halves_of_nibbles>());
    case PanelForm::halves_of_nibbles_with_minima:
      return multiply(std::integral_constant<PanelForm, PanelForm::halves_of_nibbles_with_minima>());
  }
}

inline void multiply_panel(const QuantizedMatrix& w, int64_t panel, const QuantizedRows& rows, int64_t first,
                           const real* bias, Matrix y) {
  if (kMayHaveDotProducts && kernels::uses_byte_dot_products())
    multiply_panel_by<kMayHaveDotProducts>(w, panel, rows, first, bias, y);
  else
    multiply_panel_by<false>(w, panel, rows, first, bias, y);
}

}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the guard that is toggled
