#include "kernels/rotary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotary.cpp"
#include <hwy/foreach_target.h>

#include <hwy/contrib/math/math-inl.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

using Doubles = hn::ScalableTag<double>;

// Writes vectors of doubles as reals.
HWY_INLINE void store_reals(hn::Vec<Doubles> v, float* p) {
  const hn::Rebind<float, Doubles> d;
  hn::StoreU(hn::DemoteTo(d, v), d, p);
}
[[maybe_unused]] HWY_INLINE void store_reals(hn::Vec<Doubles> v, double* p) { hn::StoreU(v, Doubles(), p); }

// The length an array of n numbers needs so that it can be filled by whole vectors of doubles.
HWY_INLINE int64_t whole_vectors(int64_t n) { return n + static_cast<int64_t>(hn::Lanes(Doubles())) - 1; }

// factor times cosine and sine of position·frequency, in double until they are stored: a float angle of 1000 is off by
// 3e-5.
HWY_INLINE void rotary_angles(const double* frequencies, int64_t half, int32_t position, double factor, real* cosines,
                              real* sines) {
  const Doubles d;
  const auto scale = hn::Set(d, factor);
  const auto p = hn::Set(d, position);
  for (int64_t i = 0; i < half; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto angle = hn::Mul(p, hn::LoadU(d, frequencies + i));
    store_reals(hn::Mul(scale, hn::Cos(d, angle)), cosines + i);
    store_reals(hn::Mul(scale, hn::Sin(d, angle)), sines + i);
  }
}

// (a, b) → (a·cos - b·sin, b·cos + a·sin), or the other way round where direction is -1
HWY_INLINE void rotate_head(const real* x, const real* cosines, const real* sines, int64_t half, real direction,
                            real* y, bool accumulate) {
  const auto sign = hn::Set(Reals(), direction);
  for_each_vector(half, [&](int64_t i, auto part) HWY_ATTR {
    const auto a = part.load(x + i), b = part.load(x + i + half);
    const auto cosine = part.load(cosines + i), sine = hn::Mul(sign, part.load(sines + i));
    auto first = hn::NegMulAdd(b, sine, hn::Mul(a, cosine));
    auto second = hn::MulAdd(a, sine, hn::Mul(b, cosine));
    if (accumulate) {
      first = hn::Add(first, part.load(y + i));
      second = hn::Add(second, part.load(y + i + half));
    }
    part.store(first, y + i);
    part.store(second, y + i + half);
  });
}

// What is not turned passes.
HWY_INLINE void pass_on(const real* x, int64_t count, real* y, bool accumulate) {
  if (x == y && !accumulate) return;
  for (int64_t i = 0; i < count; ++i) y[i] = accumulate ? y[i] + x[i] : x[i];
}

void rotary_rows(ConstMatrix x, const int32_t* positions, const Rotation& rotation, bool inverse, Matrix y,
                 bool accumulate) {
  const int64_t half = static_cast<int64_t>(rotation.frequencies.size()), head_size = rotation.head_size;
  const real direction = inverse ? real(-1) : real(1);
  std::vector<double> frequencies(rotation.frequencies);
  frequencies.resize(whole_vectors(half));
  std::vector<real> cosines(whole_vectors(half)), sines(whole_vectors(half));
  for (int64_t t = 0; t < x.rows; ++t) {
    if (t == 0 || positions[t] != positions[t - 1]) {
      rotary_angles(frequencies.data(), half, positions[t], rotation.factor, cosines.data(), sines.data());
    }
    for (int64_t j = 0; j < x.cols; j += head_size) {
      rotate_head(x.row(t) + j, cosines.data(), sines.data(), half, direction, y.row(t) + j, accumulate);
      pass_on(x.row(t) + j + 2 * half, head_size - 2 * half, y.row(t) + j + 2 * half, accumulate);
    }
  }
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(rotary_rows);

namespace kernels {

void rotary(ConstMatrix x, const int32_t* positions, const Rotation& rotation, bool inverse, Matrix y,
            bool accumulate) {
  if (x.size() == 0) return;
  const int64_t grain = std::max<int64_t>(1, 8 * 1024 / x.cols);
  parallel_ranges(x.rows, grain, [&](int64_t begin, int64_t end) {
    const int64_t count = end - begin;
    HWY_DYNAMIC_DISPATCH(rotary_rows)
    (x.rows_from(begin, count), positions + begin, rotation, inverse, y.rows_from(begin, count), accumulate);
  });
}

}  // namespace kernels
}  // namespace limpid
#endif
