// Helpers shared by the SIMD kernels, compiled once for each instruction set: hence the guard that is toggled.
// Include after kernels/simd.h and hwy/foreach_target.h.
#if defined(LIMPID_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_KERNELS_SIMD_INL_H_
#undef LIMPID_KERNELS_SIMD_INL_H_
#else
#define LIMPID_KERNELS_SIMD_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "base/real.h"
#include "kernels/dropout.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Reals = hn::ScalableTag<real>;  // as many numbers as a vector holds
using RealVec = hn::Vec<Reals>;

// Whether a masked load or store leaves memory outside the mask alone. Where it does not, tails go through a buffer.
// (What AVX2 lacks are masks of bytes and of 16 bits, for which Highway says no to all of it.)
template <class T>
inline constexpr bool kMasksMemory =
    !HWY_MEM_OPS_MIGHT_FAULT || HWY_TARGET == HWY_SCALAR || (HWY_TARGET == HWY_AVX2 && sizeof(T) >= 4);

// The first n numbers at p, 0 < n ≤ lanes, and zero beyond.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_partial(D d, const T* p, size_t n) {
  if constexpr (kMasksMemory<T>) {
    return hn::MaskedLoad(hn::FirstN(d, n), d, p);
  } else {
    HWY_ALIGN T buffer[HWY_MAX_BYTES / sizeof(T)] = {};
    std::memcpy(buffer, p, n * sizeof(T));
    return hn::Load(d, buffer);
  }
}

// Writes the first n numbers of v to p, 0 < n ≤ lanes.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_partial(hn::Vec<D> v, D d, T* p, size_t n) {
  if constexpr (kMasksMemory<T>) {
    hn::BlendedStore(v, hn::FirstN(d, n), d, p);
  } else {
    HWY_ALIGN T buffer[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(v, d, buffer);
    std::memcpy(p, buffer, n * sizeof(T));
  }
}

// How one step of for_each_vector reads and writes: a whole vector, or the first `count` lanes of one.
struct WholeVector {
  HWY_INLINE RealVec load(const real* p) const { return hn::LoadU(Reals(), p); }
  HWY_INLINE void store(RealVec v, real* p) const { hn::StoreU(v, Reals(), p); }
  // v with zero (for sums) in the lanes that are not part of the row
  HWY_INLINE RealVec zero_rest(RealVec v) const { return v; }
};
struct PartVector {
  size_t count;
  HWY_INLINE RealVec load(const real* p) const { return load_partial(Reals(), p, count); }
  HWY_INLINE void store(RealVec v, real* p) const { store_partial(v, Reals(), p, count); }
  HWY_INLINE RealVec zero_rest(RealVec v) const { return hn::IfThenElseZero(hn::FirstN(Reals(), count), v); }
};

// Writes v to p, or adds it to what stands there.
template <class Part>
HWY_INLINE void put(Part part, bool accumulate, RealVec v, real* p) {
  if (accumulate) v = hn::Add(part.load(p), v);
  part.store(v, p);
}

// Calls body(j, part) for the vectors of [begin, n), where j is the first lane's place and part loads and stores:
//   for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR { part.store(hn::Neg(part.load(x + j)), y + j); });
template <class Body>
HWY_INLINE void for_each_vector(int64_t begin, int64_t n, const Body& body) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Reals()));
  int64_t j = begin;
  for (; j + lanes <= n; j += lanes) body(j, WholeVector());
  if (j < n) body(j, PartVector{static_cast<size_t>(n - j)});
}
template <class Body>
HWY_INLINE void for_each_vector(int64_t n, const Body& body) {
  for_each_vector(0, n, body);
}

// Sum and maximum over the lanes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::TFromD<D> sum_lanes(D d, V v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::TFromD<D> max_lanes(D d, V v) {
  return hn::GetLane(hn::MaxOfLanes(d, v));
}

// x, but at most (at least) the limit; a NaN stays a NaN, since of a number and a NaN x86 returns the second.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_most(D d, V x, hn::TFromD<D> limit) {
  if constexpr (HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR) return hn::Min(hn::Set(d, limit), x);
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, limit)), hn::Set(d, limit), x);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_least(D d, V x, hn::TFromD<D> limit) {
  if constexpr (HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR) return hn::Max(hn::Set(d, limit), x);
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, limit)), hn::Set(d, limit), x);
}

// c[0] + c[1]·x + … + c[N-1]·x^(N-1) by Horner's rule.
template <class D, class V, size_t N>
HWY_INLINE V polynomial(D d, V x, const hn::TFromD<D> (&c)[N]) {
  V y = hn::Set(d, c[N - 1]);
  for (size_t i = N - 1; i-- > 0;) y = hn::MulAdd(y, x, hn::Set(d, c[i]));
  return y;
}

// eˣ = 2ⁿ·(1 + m): x = n·ln 2 + r with |r| ≤ ln 2 / 2, and m = eʳ - 1 = r + r²·q(r), where q has the least relative
// error in eʳ (Remez). `exponent` is n where a number keeps its exponent.
template <class D>
struct ExpParts {
  hn::Vec<D> m;
  hn::Vec<hn::RebindToSigned<D>> exponent;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE ExpParts<D> exp_parts(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr bool kSingle = sizeof(T) == 4;
  constexpr int kMantissaBits = kSingle ? 23 : 52;
  constexpr T kRound = kSingle ? T(0x1.8p23) : T(0x1.8p52);  // so large that adding it rounds to an integer
  constexpr T kLog2e = T(1.44269504088896340736);
  constexpr T kLn2High = kSingle ? T(0x1.62e4p-1) : T(0x1.62e42fefap-1);  // n·kLn2High is exact
  constexpr T kLn2Low = kSingle ? T(0x1.7f7d1cf79abc9p-20) : T(0x1.cf79abc9e3b39p-40);

  const V shifted = hn::MulAdd(x, hn::Set(d, kLog2e), hn::Set(d, kRound));
  const V n = hn::Sub(shifted, hn::Set(d, kRound));
  const V r = hn::NegMulAdd(n, hn::Set(d, kLn2Low), hn::NegMulAdd(n, hn::Set(d, kLn2High), x));
  V q;
  if constexpr (kSingle) {
    constexpr T c[] = {0.49999993431811694962f, 0.1666652039873147088f, 0.04166839086511186317f,
                       0.0083687451493488635723f, 0.001381453572975989689f};
    q = polynomial(d, r, c);
  } else {
    constexpr T c[] = {0.50000000000000106687,   0.16666666666666411537,   0.041666666666529728986,
                       0.00833333333349496133,   0.0013888888943759780154, 0.00019841269505802478063,
                       2.4801492949750686215e-5, 2.7557586783278442019e-6, 2.7630306240356850699e-7,
                       2.5000023940315813267e-8};
    q = polynomial(d, r, c);
  }
  return {hn::MulAdd(hn::Mul(r, r), q, r), hn::ShiftLeft<kMantissaBits>(hn::BitCast(hn::RebindToSigned<D>(), shifted))};
}

// eˣ to 1 unit in the last place. Where eˣ is below all normal numbers it is 0, from x = 88.37 (double: 709.4) on it
// grows no more, and a NaN stays a NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr T kLowest = sizeof(T) == 4 ? T(-87.3365) : T(-708.39);
  constexpr T kHighest = sizeof(T) == 4 ? T(88.37) : T(709.4);
  const hn::RebindToSigned<D> di;
  const auto parts = exp_parts(d, at_most(d, x, kHighest));
  const V mantissa = hn::Add(parts.m, hn::Set(d, T(1)));
  const V y = hn::BitCast(d, hn::Add(hn::BitCast(di, mantissa), parts.exponent));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, kLowest)), y);
}

// σ(x) = 1/(1 + e⁻ˣ)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  return hn::Div(one, hn::Add(one, exp(d, hn::Neg(x))));
}

// tanh(x) = t/(t + 2), t = e²ˣ - 1 = 2ⁿ·m + (2ⁿ - 1), to 3 units in the last place, also where x is small.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr T kOne = 1;
  constexpr T kSaturated = sizeof(T) == 4 ? T(18.1) : T(40);  // from here on tanh rounds to 1
  const hn::RebindToSigned<D> di;
  const auto parts = exp_parts(d, at_most(d, at_least(d, hn::Add(x, x), -kSaturated), kSaturated));
  const V power = hn::BitCast(d, hn::Add(hn::BitCast(di, hn::Set(d, kOne)), parts.exponent));
  const V t = hn::MulAdd(power, parts.m, hn::Sub(power, hn::Set(d, kOne)));
  return hn::Div(t, hn::Add(t, hn::Set(d, T(2))));
}

// dropout_keeps of dropout.h, a vector at a time; for rates above 0.
class DropoutMask {
 public:
  // For indices from `start` on; quickest for those that share its upper half.
  explicit DropoutMask(const Dropout& dropout, uint64_t start = 0)
      : key_(dropout.key),
        words_(dropout_words(key_, start)),
        upper_(start >> 32),
        limit_(dropout_limit(dropout.rate)),
        scale_(dropout_scale(dropout.rate)) {}

  // Lane l: whether index + l·step is kept.
  template <class D>
  HWY_INLINE hn::Mask<D> keep(D d, uint64_t index, uint64_t step = 1) const {
    const hn::Rebind<int32_t, D> di;
    const auto kept = hn::Gt(hash(di, index, step), hn::Set(di, limit_));
    if constexpr (sizeof(hn::TFromD<D>) == 4) {
      return hn::RebindMask(d, kept);
    } else {
      const hn::Rebind<int64_t, D> wide;
      return hn::RebindMask(d, hn::MaskFromVec(hn::PromoteTo(wide, hn::VecFromMask(di, kept))));
    }
  }

  // Lane l: x·1/(1-rate) where index + l is kept, else 0.
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V apply(D d, uint64_t index, V x) const {
    return hn::IfThenElseZero(keep(d, index), hn::Mul(x, hn::Set(d, static_cast<hn::TFromD<D>>(scale_))));
  }

 private:
  // dropout_hash of index, index + step, index + 2·step, …
  template <class DI>
  HWY_INLINE hn::Vec<DI> hash(DI di, uint64_t index, uint64_t step) const {
    const uint64_t last = index + (hn::Lanes(di) - 1) * step;
    if (HWY_LIKELY((last >> 32) == upper_)) return hash_block(di, index, step, words_);
    return hash_far(di, index, step, last);
  }

  // With another upper half; a vector may straddle a multiple of 2³².
  template <class DI>
  HWY_NOINLINE hn::Vec<DI> hash_far(DI di, uint64_t index, uint64_t step, uint64_t last) const {
    const auto upper = hash_block(di, index, step, dropout_words(key_, last));
    if ((index >> 32) == (last >> 32)) return upper;
    const auto lower = hash_block(di, index, step, dropout_words(key_, index));
    const uint64_t block_end = last >> 32 << 32;
    return hn::IfThenElse(hn::FirstN(di, (block_end - index + step - 1) / step), lower, upper);
  }

  // The hash of indices that have the upper half which gave `words`.
  template <class DI>
  HWY_INLINE static hn::Vec<DI> hash_block(DI di, uint64_t index, uint64_t step, uint64_t words) {
    const hn::RebindToUnsigned<DI> du;
    const auto offsets = hn::Mul(hn::Iota(du, 0), hn::Set(du, static_cast<uint32_t>(step)));
    auto x = hn::Add(offsets, hn::Set(du, static_cast<uint32_t>(index)));
    x = hn::Xor(x, hn::Set(du, static_cast<uint32_t>(words)));
    x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(du, kDropoutFactor1));
    x = hn::Xor(x, hn::Set(du, static_cast<uint32_t>(words >> 32)));
    x = hn::Mul(hn::Xor(x, hn::ShiftRight<15>(x)), hn::Set(du, kDropoutFactor2));
    return hn::BitCast(di, x);
  }

  uint64_t key_;
  uint64_t words_;  // of the indices with this upper half
  uint64_t upper_;
  int32_t limit_;
  real scale_;
};

}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the guard that is toggled
