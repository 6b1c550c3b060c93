#include "kernels/reduce.h"

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

// sums[j] += x[0][j] + x[1][j] + … over 8 rows, added in pairs.
HWY_INLINE void add_eight_rows(const real* x, int64_t stride, int64_t cols, real* sums) {
  for_each_vector(cols, [&](int64_t j, auto part) HWY_ATTR {
    const real* p = x + j;
    const auto s01 = hn::Add(part.load(p), part.load(p + stride));
    const auto s23 = hn::Add(part.load(p + 2 * stride), part.load(p + 3 * stride));
    const auto s45 = hn::Add(part.load(p + 4 * stride), part.load(p + 5 * stride));
    const auto s67 = hn::Add(part.load(p + 6 * stride), part.load(p + 7 * stride));
    const auto sum = hn::Add(hn::Add(s01, s23), hn::Add(s45, s67));
    part.store(hn::Add(part.load(sums + j), sum), sums + j);
  });
}

// sums[j] += Σ_i x(i, j)
void add_rows(ConstMatrix x, real* sums) {
  int64_t i = 0;
  for (; i + 8 <= x.rows; i += 8) add_eight_rows(x.row(i), x.stride, x.cols, sums);
  for (; i < x.rows; ++i) {
    const real* row = x.row(i);
    for_each_vector(x.cols, [&](int64_t j, auto part)
                                HWY_ATTR { part.store(hn::Add(part.load(sums + j), part.load(row + j)), sums + j); });
  }
}

using Doubles = hn::ScalableTag<double>;

// The numbers at p, as many as a vector of doubles holds.
HWY_INLINE hn::Vec<Doubles> load_doubles(const float* p) {
  return hn::PromoteTo(Doubles(), hn::LoadU(hn::Rebind<float, Doubles>(), p));
}
[[maybe_unused]] HWY_INLINE hn::Vec<Doubles> load_doubles(const double* p) { return hn::LoadU(Doubles(), p); }

// Σ x², four chains of additions side by side
double squares(const real* x, int64_t n) {
  const Doubles d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes) {
    const auto x0 = load_doubles(x + j), x1 = load_doubles(x + j + lanes);
    const auto x2 = load_doubles(x + j + 2 * lanes), x3 = load_doubles(x + j + 3 * lanes);
    s0 = hn::MulAdd(x0, x0, s0);
    s1 = hn::MulAdd(x1, x1, s1);
    s2 = hn::MulAdd(x2, x2, s2);
    s3 = hn::MulAdd(x3, x3, s3);
  }
  double sum = sum_lanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
  for (; j < n; ++j) sum += static_cast<double>(x[j]) * x[j];
  return sum;
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(add_rows);
HWY_EXPORT(squares);

namespace kernels {
namespace {
constexpr int64_t kRange = 64 * 1024;  // numbers one range adds up
constexpr int64_t kLongest = 1024;     // rows one range adds up, unless there are very many: long sums lose digits
constexpr int64_t kMostRanges = 32;    // of rows, so that the sums of the ranges stay few beside the rows
}  // namespace

// Each range of rows adds into sums of its own; these are then added in the order of the ranges.
void column_sums(ConstMatrix x, real* sums, bool accumulate) {
  if (!accumulate) std::fill_n(sums, x.cols, real(0));
  if (x.size() == 0) return;
  const int64_t least = (x.rows + kMostRanges - 1) / kMostRanges;
  const int64_t grain = (std::max({int64_t{1}, std::min(kLongest, kRange / x.cols), least}) + 7) / 8 * 8;
  const int64_t ranges = (x.rows + grain - 1) / grain;
  if (ranges == 1) return HWY_DYNAMIC_DISPATCH(add_rows)(x, sums);
  std::vector<real> partial(ranges * x.cols);
  parallel_ranges(x.rows, grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(add_rows)(x.rows_from(begin, end - begin), partial.data() + begin / grain * x.cols);
  });
  HWY_DYNAMIC_DISPATCH(add_rows)(ConstMatrix(partial.data(), ranges, x.cols), sums);
}

double sum_of_squares(const real* x, int64_t count) {
  std::vector<double> partial((count + kSquaresRange - 1) / kSquaresRange);
  parallel_ranges(count, kSquaresRange, [&](int64_t begin, int64_t end) {
    partial[begin / kSquaresRange] = HWY_DYNAMIC_DISPATCH(squares)(x + begin, end - begin);
  });
  double sum = 0;
  for (double p : partial) sum += p;
  return sum;
}

}  // namespace kernels
}  // namespace limpid
#endif
