#pragma once
// The largest numbers of a row, and the sum of all exponentials that turns scores into log-probabilities, in one pass
// over memory.

#include <cmath>
#include <cstdint>
#include <span>

#include "base/real.h"

namespace limpid::kernels {

struct RankedNumber {
  int32_t place = -1;
  real value = 0;
};

// Σ eˣ = e^max·sum
struct SumOfExponentials {
  real max, sum;
  real log() const { return max + std::log(sum); }
};

// The largest numbers of x in order, of equals that of the lower place first: as many as `best` has room for, which is
// one at least and no more than x has. A NaN shows in the sum.
SumOfExponentials top_numbers_and_sum(std::span<const real> x, std::span<RankedNumber> best);
// The same without the sum. Returns whether all are numbers, of which some may be -∞.
bool top_numbers(std::span<const real> x, std::span<RankedNumber> best);
// The sum alone, with the same bits.
SumOfExponentials sum_of_exponentials(std::span<const real> x);
// -Σ p·log p with p = softmax(x), in nats. A score of -∞ adds nothing.
real entropy_of_scores(std::span<const real> x);

}  // namespace limpid::kernels
