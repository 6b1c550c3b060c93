#include "kernels/top_numbers.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/top_numbers.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid {
namespace HWY_NAMESPACE {
namespace {

using kernels::RankedNumber;
using kernels::SumOfExponentials;

// So many numbers are looked at together: they stay in the nearest cache between the maximum and the sum.
constexpr int64_t kBlock = 128;
constexpr real kInfinity = std::numeric_limits<real>::infinity();

real maximum(const real* x, int64_t n) {
  const Reals d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  real max = x[0];
  int64_t j = 0;
  if (n >= lanes) {
    RealVec v = hn::LoadU(d, x);
    for (j = lanes; j + lanes <= n; j += lanes) v = hn::Max(v, hn::LoadU(d, x + j));
    max = max_lanes(d, v);
  }
  for (; j < n; ++j) max = std::max(max, x[j]);
  return max;
}

// Σ exp(x - max)
real sum_of_exp(const real* x, int64_t n, real max) {
  const Reals d;
  RealVec sums = hn::Zero(d);
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
    sums = hn::Add(sums, part.zero_rest(exp(d, hn::Sub(part.load(x + j), hn::Set(d, max)))));
  });
  return sum_lanes(d, sums);
}

// A NaN where x holds one.
real sum(const real* x, int64_t n) {
  const Reals d;
  RealVec sums = hn::Zero(d);
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR { sums = hn::Add(sums, part.load(x + j)); });
  return sum_lanes(d, sums);
}

// Puts x into its place among the best, of which there are `found` and may be `most`. Places come in rising order, so
// of equals the lower one stands first.
void insert(RankedNumber x, int64_t most, int64_t& found, RankedNumber* best) {
  if (found == most && !(x.value > best[most - 1].value)) return;
  int64_t i = found < most ? found++ : most - 1;
  for (; i > 0 && x.value > best[i - 1].value; --i) best[i] = best[i - 1];
  best[i] = x;
}

}  // namespace

// The best `most` numbers of a row in order, block by block, which is read from memory once: only a block whose maximum
// is among the best is searched. Calls also(block, count, maximum) for every block.
template <class Also>
HWY_INLINE void best_of_blocks(const real* x, int64_t n, int64_t most, RankedNumber* best, const Also& also) {
  int64_t found = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t count = std::min(kBlock, n - begin);
    const real* block = x + begin;
    const real block_max = maximum(block, count);
    also(block, count, block_max);
    if (found == most && !(block_max > best[most - 1].value)) continue;
    for_each_vector(count, [&](int64_t j, auto part) HWY_ATTR {
      const auto least = hn::Set(Reals(), found == most ? best[most - 1].value : -kInfinity);
      if (found == most && hn::AllFalse(Reals(), hn::Gt(part.load(block + j), least))) return;
      const int64_t end = std::min(count, j + static_cast<int64_t>(hn::Lanes(Reals())));
      for (int64_t i = j; i < end; ++i) insert({static_cast<int32_t>(begin + i), block[i]}, most, found, best);
    });
  }
}

// A greater maximum shrinks the sum so far.
SumOfExponentials best_and_sum(const real* x, int64_t n, int64_t most, RankedNumber* best) {
  real max = hwy::LowestValue<real>(), sum = 0;
  best_of_blocks(x, n, most, best, [&](const real* block, int64_t count, real block_max) HWY_ATTR {
    if (block_max > max) {
      sum *= std::exp(max - block_max);
      max = block_max;
    }
    sum += sum_of_exp(block, count, max);
  });
  return {max, sum};
}

// With x' = x - max: Σ eˣ' and Σ x'·eˣ' give the entropy log Σ eˣ' - Σ x'·eˣ' / Σ eˣ'.
real entropy(const real* x, int64_t n) {
  const Reals d;
  const RealVec max = hn::Set(d, maximum(x, n)), least = hn::Set(d, -1000);  // -∞·0 would be no number
  RealVec sums = hn::Zero(d), weighted = hn::Zero(d);
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
    const RealVec below = hn::Max(hn::Sub(part.load(x + j), max), least);
    const RealVec e = part.zero_rest(exp(d, below));
    sums = hn::Add(sums, e);
    weighted = hn::MulAdd(below, e, weighted);
  });
  const real sum = sum_lanes(d, sums);
  return std::log(sum) - sum_lanes(d, weighted) / sum;
}

bool best_alone(const real* x, int64_t n, int64_t most, RankedNumber* best) {
  real total = 0;
  best_of_blocks(x, n, most, best,
                 [&](const real* block, int64_t count, real) HWY_ATTR { total += sum(block, count); });
  return total < kInfinity;
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(best_and_sum);
HWY_EXPORT(best_alone);
HWY_EXPORT(entropy);

namespace kernels {

SumOfExponentials top_numbers_and_sum(std::span<const real> x, std::span<RankedNumber> best) {
  return HWY_DYNAMIC_DISPATCH(best_and_sum)(x.data(), std::ssize(x), std::ssize(best), best.data());
}

bool top_numbers(std::span<const real> x, std::span<RankedNumber> best) {
  return HWY_DYNAMIC_DISPATCH(best_alone)(x.data(), std::ssize(x), std::ssize(best), best.data());
}

SumOfExponentials sum_of_exponentials(std::span<const real> x) {
  RankedNumber best;
  return top_numbers_and_sum(x, {&best, 1});
}

real entropy_of_scores(std::span<const real> x) { return HWY_DYNAMIC_DISPATCH(entropy)(x.data(), std::ssize(x)); }

}  // namespace kernels
}  // namespace limpid
#endif
