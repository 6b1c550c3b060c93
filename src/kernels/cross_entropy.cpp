#include "kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cross_entropy.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

// A row of some 10,000 numbers stays in the second-level cache from the first sweep over it to the last: the sweep that
// computes exponentials costs several times one that does not, so each is computed once and kept.

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

// Sums are kept per lane for so many numbers, then added to a double: a large term costs only its neighbours their
// digits.
constexpr int64_t kBlock = 512;

// The largest of n > 0 numbers. A NaN is passed over: the sums show it.
real row_max(const real* x, int64_t n) {
  const Reals d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (n < lanes) return *std::max_element(x, x + n);
  auto m0 = hn::LoadU(d, x + n - lanes), m1 = m0, m2 = m0, m3 = m0;  // the last vector may overlap the one before
  int64_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes) {
    m0 = hn::Max(hn::LoadU(d, x + j), m0);
    m1 = hn::Max(hn::LoadU(d, x + j + lanes), m1);
    m2 = hn::Max(hn::LoadU(d, x + j + 2 * lanes), m2);
    m3 = hn::Max(hn::LoadU(d, x + j + 3 * lanes), m3);
  }
  for (; j + lanes <= n; j += lanes) m0 = hn::Max(hn::LoadU(d, x + j), m0);
  return max_lanes(d, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3)));
}

struct RowSums {
  double exponentials = 0;  // Σ e^(x - max)
  double shifted = 0;       // Σ (x - max)
};

// The sums over a row; y = e^(x - max) where kept. y may be x.
template <bool kKeep>
HWY_INLINE RowSums row_sums(const real* x, int64_t n, real max, real* y) {
  const Reals d;
  const auto m = hn::Set(d, max);
  RowSums sums;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    auto exponentials = hn::Zero(d), shifted = hn::Zero(d);
    for_each_vector(begin, std::min(n, begin + kBlock), [&](int64_t j, auto part) HWY_ATTR {
      const auto s = hn::Sub(part.load(x + j), m);
      const auto e = exp(d, s);
      if constexpr (kKeep) part.store(e, y + j);
      exponentials = hn::Add(exponentials, part.zero_rest(e));
      shifted = hn::Add(shifted, part.zero_rest(s));
    });
    sums.exponentials += sum_lanes(d, exponentials);
    sums.shifted += sum_lanes(d, shifted);
  }
  return sums;
}

// y = factor·x - offset. y may be x.
HWY_INLINE void scale_row(const real* x, int64_t n, real factor, real offset, real* y) {
  const auto f = hn::Set(Reals(), factor), o = hn::Set(Reals(), offset);
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR { part.store(hn::MulSub(f, part.load(x + j), o), y + j); });
}

// With s = x - max: log p = s - log Σeˢ, so that the loss is a sum of three terms none of which is negative:
// log Σeˢ - (1-ε)·s[label] - ε/V·Σs
double row_loss(const RowSums& sums, double shifted_label, double smoothing, int64_t classes) {
  const double loss = std::log(sums.exponentials) - (1 - smoothing) * shifted_label;
  // Without smoothing Σs does not count, though it may be infinite.
  return smoothing == 0 ? loss : loss - smoothing / static_cast<double>(classes) * sums.shifted;
}

void cross_entropy_rows(ConstMatrix logits, const int32_t* labels, real smoothing, real* losses) {
  for (int64_t i = 0; i < logits.rows; ++i) {
    const real* x = logits.row(i);
    const real max = row_max(x, logits.cols);
    const RowSums sums = row_sums<false>(x, logits.cols, max, nullptr);
    losses[i] = static_cast<real>(row_loss(sums, x[labels[i]] - max, smoothing, logits.cols));
  }
}

void cross_entropy_gradient_rows(Matrix logits, const int32_t* labels, real smoothing, real weight, real* losses) {
  const double everywhere = static_cast<double>(weight) * smoothing / static_cast<double>(logits.cols);
  for (int64_t i = 0; i < logits.rows; ++i) {
    real* x = logits.row(i);
    const int32_t label = labels[i];
    const real max = row_max(x, logits.cols);
    const real shifted_label = x[label] - max;
    const RowSums sums = row_sums<true>(x, logits.cols, max, x);
    losses[i] = static_cast<real>(row_loss(sums, shifted_label, smoothing, logits.cols));
    const double factor = weight / sums.exponentials;
    const double at_label = factor * x[label] - everywhere - static_cast<double>(weight) * (1 - double{smoothing});
    scale_row(x, logits.cols, static_cast<real>(factor), static_cast<real>(everywhere), x);
    x[label] = static_cast<real>(at_label);
  }
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(cross_entropy_rows);
HWY_EXPORT(cross_entropy_gradient_rows);

namespace kernels {
namespace {
// Rows of one range: some 8,000 exponentials, or one row.
int64_t grain(int64_t cols) { return std::max<int64_t>(1, 8 * 1024 / std::max<int64_t>(1, cols)); }
}  // namespace

void cross_entropy_forward(ConstMatrix logits, const int32_t* labels, real smoothing, real* losses) {
  parallel_ranges(logits.rows, grain(logits.cols), [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(cross_entropy_rows)
    (logits.rows_from(begin, end - begin), labels + begin, smoothing, losses + begin);
  });
}

void cross_entropy_forward_backward(Matrix logits, const int32_t* labels, real smoothing, real weight, real* losses) {
  parallel_ranges(logits.rows, grain(logits.cols), [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(cross_entropy_gradient_rows)
    (logits.rows_from(begin, end - begin), labels + begin, smoothing, weight, losses + begin);
  });
}

}  // namespace kernels
}  // namespace limpid
#endif
