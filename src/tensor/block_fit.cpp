#include "tensor/block_fit.h"

#include <algorithm>
#include <cmath>

namespace limpid {
namespace {

constexpr int kLanes = 8;  // sums are kept for so many at a time, which compilers turn into vectors
using Lanes = std::array<float, kLanes>;

float total(const Lanes& lanes) {
  float sum = 0;
  for (const float one : lanes) sum += one;
  return sum;
}

// To the nearest whole number, for |x| < 2²².
float rounded(float x) {
  constexpr float shift = 12582912;  // 1.5·2²³: a unit in the last place is one
  return (x + shift) - shift;
}

// The factor and minimum with the least squared error for the integers of a fit.
GroupFit refitted(const GroupFit& fit, const float* x, int n, QuantRange range, bool minimum_from_zero) {
  Lanes sum_q = {}, sum_qq = {}, sum_x = {}, sum_xq = {};
  for (int i = 0; i < n; i += kLanes)
    for (int j = 0; j < kLanes; ++j) {
      const auto at = static_cast<size_t>(i + j), lane = static_cast<size_t>(j);
      sum_q[lane] += fit.q[at];
      sum_qq[lane] += fit.q[at] * fit.q[at];
      sum_x[lane] += x[at];
      sum_xq[lane] += x[at] * fit.q[at];
    }
  const auto count = static_cast<float>(n);
  const float q = total(sum_q), qq = total(sum_qq), xs = total(sum_x), xq = total(sum_xq);
  const float spread = count * qq - q * q;
  float factor = inverse_of(qq) * xq, minimum = 0;
  if (range.affine && spread > 0) {
    const float both_factor = (count * xq - xs * q) / spread, both_minimum = (q * xq - xs * qq) / spread;
    if (!minimum_from_zero || both_minimum >= 0) factor = both_factor, minimum = both_minimum;
  }
  return nearest_quants(x, n, range, factor, minimum);
}

void keep_better(GroupFit& best, const GroupFit& other) {
  if (other.error < best.error) best = other;
}

GroupFit best_symmetric(const float* x, int n, QuantRange range) {
  const float most = *std::max_element(x, x + n, [](float a, float b) { return std::abs(a) < std::abs(b); });
  GroupFit best = nearest_quants(x, n, range, most / range.low, 0);
  // The number of largest magnitude is put a little inside or outside of either end.
  for (int step = -9; step <= 9; ++step) {
    const float end = range.low - 0.13F * static_cast<float>(step);
    GroupFit tried = nearest_quants(x, n, range, most / end, 0);
    keep_better(best, tried);
    keep_better(best, refitted(tried, x, n, range, false));
    if (step % 3 == 0) {
      tried = nearest_quants(x, n, range, -most / (end + 0.5F), 0);
      keep_better(best, refitted(tried, x, n, range, false));
    }
  }
  return best;
}

GroupFit best_affine(const float* x, int n, QuantRange range, bool minimum_from_zero) {
  const auto [least, most] = std::minmax_element(x, x + n);
  const float low = minimum_from_zero ? std::min(*least, 0.0F) : *least, span = *most - low;
  GroupFit best = nearest_quants(x, n, range, span / range.high, -low);
  if (!(span > 0)) return best;
  for (int step = -4; step <= 10; ++step) {
    // Both ends may be cut: what lies beyond is rounded to the outermost integer.
    const float levels = range.high + 0.15F * static_cast<float>(step), factor = span / levels;
    const float shift = factor * 0.5F * (levels - range.high);
    GroupFit tried = nearest_quants(x, n, range, factor, -low - shift);
    if (minimum_from_zero && tried.minimum < 0) tried = nearest_quants(x, n, range, factor, 0);
    for (int round = 0; round < 2; ++round) {
      keep_better(best, tried);
      tried = refitted(tried, x, n, range, minimum_from_zero);
    }
    keep_better(best, tried);
  }
  return best;
}

}  // namespace

GroupFit nearest_quants(const float* x, int n, QuantRange range, float factor, float minimum) {
  GroupFit fit{.factor = factor, .minimum = minimum};
  const float inverse = inverse_of(factor);
  Lanes errors = {};
  for (int i = 0; i < n; i += kLanes)
    for (int j = 0; j < kLanes; ++j) {
      const auto at = static_cast<size_t>(i + j);
      const float q = rounded(std::min(std::max((x[at] + minimum) * inverse, range.low), range.high));
      const float off = x[at] - (factor * q - minimum);
      fit.q[at] = q;
      errors[static_cast<size_t>(j)] += off * off;
    }
  fit.error = total(errors);
  return fit;
}

GroupFit best_fit(const float* x, int n, QuantRange range, bool minimum_from_zero) {
  return range.affine ? best_affine(x, n, range, minimum_from_zero) : best_symmetric(x, n, range);
}

}  // namespace limpid
