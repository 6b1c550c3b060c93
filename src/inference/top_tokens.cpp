#include "inference/top_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/parallel.h"
#include "kernels/top_numbers.h"

namespace limpid {
namespace {

using kernels::RankedNumber;

// What to subtract from scores to make them log-probabilities.
real best_of_row(std::span<const real> logits, const TopOptions& options, std::span<RankedNumber> best) {
  if (!options.log_sum) return kernels::top_numbers_and_sum(logits, best).log();
  return kernels::top_numbers(logits, best) ? *options.log_sum : std::numeric_limits<real>::quiet_NaN();
}

void top_of_row(std::span<const real> logits, const TopOptions& options, TokenScore* result) {
  // Those that may not be chosen can stand before all others.
  const int64_t most =
      std::min<int64_t>(std::ssize(logits), options.count + static_cast<int64_t>(options.never.size()));
  std::vector<RankedNumber> best(most);
  const real log_sum = best_of_row(logits, options, best);
  check(std::isfinite(log_sum), "[top tokens] the model's scores are not numbers: it has diverged or is damaged");
  auto allowed = [&](const RankedNumber& token) {
    return token.value > -std::numeric_limits<real>::infinity() &&
           std::find(options.never.begin(), options.never.end(), token.place) == options.never.end();
  };
  int64_t found = 0;
  for (const RankedNumber& token : best)
    if (found < options.count && allowed(token)) result[found++] = {token.place, token.value - log_sum};
}

}  // namespace

real log_sum(std::span<const real> scores) { return kernels::sum_of_exponentials(scores).log(); }

TopTokens top_tokens(ConstMatrix logits, const TopOptions& options) {
  check(options.count >= 1, "[top tokens] asked for {} tokens: ask for one at least", options.count);
  TopTokens top{options.count, std::vector<TokenScore>(logits.rows * options.count)};
  parallel_for(logits.rows, [&](int64_t i) {
    top_of_row({logits.row(i), static_cast<size_t>(logits.cols)}, options, top.best.data() + i * options.count);
  });
  return top;
}

}  // namespace limpid
