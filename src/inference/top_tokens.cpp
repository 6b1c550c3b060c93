#include "inference/top_tokens.h"

#include "base/error.h"
#include "base/parallel.h"
#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "inference/top_tokens.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid {
namespace HWY_NAMESPACE {
namespace {

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

// Puts x into its place among the best, of which there are `found` and may be `most`. Ids come in rising order, so of
// equals the lower id stands first.
void insert(TokenScore x, int64_t most, int64_t& found, TokenScore* best) {
  if (found == most && !(x.log_probability > best[most - 1].log_probability)) return;
  int64_t i = found < most ? found++ : most - 1;
  for (; i > 0 && x.log_probability > best[i - 1].log_probability; --i) best[i] = best[i - 1];
  best[i] = x;
}

}  // namespace

// The best `most` numbers of a row in order, block by block, which is read from memory once: only a block whose maximum
// is among the best is searched. Calls also(block, count, maximum) for every block.
template <class Also>
HWY_INLINE void best_of_blocks(const real* x, int64_t n, int64_t most, TokenScore* best, const Also& also) {
  int64_t found = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t count = std::min(kBlock, n - begin);
    const real* block = x + begin;
    const real block_max = maximum(block, count);
    also(block, count, block_max);
    if (found == most && !(block_max > best[most - 1].log_probability)) continue;
    for_each_vector(count, [&](int64_t j, auto part) HWY_ATTR {
      const auto least = hn::Set(Reals(), found == most ? best[most - 1].log_probability : -kInfinity);
      if (found == most && hn::AllFalse(Reals(), hn::Gt(part.load(block + j), least))) return;
      const int64_t end = std::min(count, j + static_cast<int64_t>(hn::Lanes(Reals())));
      for (int64_t i = j; i < end; ++i) insert({static_cast<int32_t>(begin + i), block[i]}, most, found, best);
    });
  }
}

// Returns log Σ eˣ: a greater maximum shrinks the sum so far.
real best_and_log_sum(const real* x, int64_t n, int64_t most, TokenScore* best) {
  real max = hwy::LowestValue<real>(), sum = 0;
  best_of_blocks(x, n, most, best, [&](const real* block, int64_t count, real block_max) HWY_ATTR {
    if (block_max > max) {
      sum *= std::exp(max - block_max);
      max = block_max;
    }
    sum += sum_of_exp(block, count, max);
  });
  return max + std::log(sum);
}

// Returns whether all are numbers, of which some may be -∞.
bool best_alone(const real* x, int64_t n, int64_t most, TokenScore* best) {
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
namespace {

HWY_EXPORT(best_and_log_sum);
HWY_EXPORT(best_alone);

// What to subtract from scores to make them log-probabilities.
real best_of_row(const real* logits, int64_t vocab, const TopOptions& options, std::span<TokenScore> best) {
  const auto most = static_cast<int64_t>(best.size());
  if (!options.log_sum) return HWY_DYNAMIC_DISPATCH(best_and_log_sum)(logits, vocab, most, best.data());
  const bool numbers = HWY_DYNAMIC_DISPATCH(best_alone)(logits, vocab, most, best.data());
  return numbers ? *options.log_sum : std::numeric_limits<real>::quiet_NaN();
}

void top_of_row(const real* logits, int64_t vocab, const TopOptions& options, TokenScore* result) {
  // Those that may not be chosen can stand before all others.
  const int64_t most = std::min<int64_t>(vocab, options.count + static_cast<int64_t>(options.never.size()));
  std::vector<TokenScore> best(most);
  const real log_sum = best_of_row(logits, vocab, options, best);
  check(std::isfinite(log_sum), "[top tokens] the model's scores are not numbers: it has diverged or is damaged");
  auto allowed = [&](const TokenScore& token) {
    return token.log_probability > -std::numeric_limits<real>::infinity() &&
           std::find(options.never.begin(), options.never.end(), token.id) == options.never.end();
  };
  int64_t found = 0;
  for (const TokenScore& token : best)
    if (found < options.count && allowed(token)) result[found++] = {token.id, token.log_probability - log_sum};
}

}  // namespace

real log_sum(std::span<const real> scores) {
  TokenScore best;
  return HWY_DYNAMIC_DISPATCH(best_and_log_sum)(scores.data(), static_cast<int64_t>(scores.size()), 1, &best);
}

TopTokens top_tokens(ConstMatrix logits, const TopOptions& options) {
  check(options.count >= 1, "[top tokens] asked for {} tokens: ask for one at least", options.count);
  TopTokens top{options.count, std::vector<TokenScore>(logits.rows * options.count)};
  parallel_for(logits.rows, [&](int64_t i) {
    top_of_row(logits.row(i), logits.cols, options, top.best.data() + i * options.count);
  });
  return top;
}

}  // namespace limpid
#endif
