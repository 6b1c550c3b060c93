#include "kernels/top_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace limpid {
namespace {

TEST(Entropy, IsThatOfTheSoftmax) {
  for (const int64_t count : {1, 2, 7, 16, 33, 1000, 32000}) {
    std::vector<real> scores(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
      scores[i] = static_cast<real>(4 * std::sin(0.37 * static_cast<double>(i)) + 100);
    long double sum = 0, weighted = 0;
    for (const real x : scores) {
      const long double below = static_cast<long double>(x) - 104;
      sum += std::exp(below);
      weighted += below * std::exp(below);
    }
    const auto expected = static_cast<double>(std::log(sum) - weighted / sum);
    EXPECT_NEAR(static_cast<double>(kernels::entropy_of_scores(scores)), expected, 1e-4) << count;
  }
}

TEST(Entropy, WhatIsForbiddenAddsNothing) {
  const real infinity = std::numeric_limits<real>::infinity();
  const std::vector<real> scores = {1, -infinity, 1, -infinity, -infinity, 1, 1};
  EXPECT_NEAR(static_cast<double>(kernels::entropy_of_scores(scores)), std::log(4.0), 1e-6);
}

}  // namespace
}  // namespace limpid
