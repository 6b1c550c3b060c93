#include "inference/top_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace limpid {
namespace {

std::vector<real> random_logits(int64_t count, uint64_t seed, double spread = 4) {
  Random random(seed);
  std::vector<real> logits(count);
  for (real& x : logits) x = static_cast<real>(spread * random.normal());
  return logits;
}

double log_sum(const real* x, int64_t n) {
  const auto max = static_cast<double>(*std::max_element(x, x + n));
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x[i]) - max);
  return max + std::log(sum);
}

TEST(TopTokens, AreThoseOfSorting) {
  for (const int64_t vocab : {1, 5, 16, 127, 128, 129, 1000, 4133}) {
    for (const int64_t count : {1, 3, 8, 40}) {
      const int64_t rows = 3;
      const auto logits = random_logits(rows * vocab, static_cast<uint64_t>(vocab + count));
      const TopTokens top = top_tokens({logits.data(), rows, vocab}, {.count = count});
      for (int64_t row = 0; row < rows; ++row) {
        const real* x = logits.data() + row * vocab;
        const double sum = log_sum(x, vocab);
        std::vector<int32_t> order(vocab);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return x[a] > x[b]; });
        for (int64_t k = 0; k < count; ++k) {
          const TokenScore token = top.row(row)[k];
          if (k >= vocab) {
            EXPECT_EQ(token.id, -1);
            continue;
          }
          EXPECT_EQ(token.id, order[k]) << "vocab " << vocab << " row " << row << " place " << k;
          EXPECT_NEAR(token.log_probability, x[order[k]] - sum, 1e-5 * (1 + std::abs(sum)));
        }
      }
    }
  }
}

TEST(TopTokens, OfEqualsTheLowerIdComesFirst) {
  std::vector<real> logits(300, 1);
  logits[200] = 2;
  const TopTokens top = top_tokens({logits.data(), 1, 300}, {.count = 4});
  EXPECT_EQ(top.best[0].id, 200);
  EXPECT_EQ(top.best[1].id, 0);
  EXPECT_EQ(top.best[2].id, 1);
  EXPECT_EQ(top.best[3].id, 2);
}

TEST(TopTokens, SomeAreNeverChosenAndKeepTheirShare) {
  const std::vector<real> logits{5, 1, 4, 3};
  const TopTokens top = top_tokens({logits.data(), 1, 4}, {.count = 3, .never = {0, 2}});
  EXPECT_EQ(top.best[0].id, 3);
  EXPECT_EQ(top.best[1].id, 1);
  EXPECT_EQ(top.best[2].id, -1);
  EXPECT_NEAR(top.best[0].log_probability, 3 - log_sum(logits.data(), 4), 1e-5);
}

TEST(TopTokens, LargeScoresDoNotOverflow) {
  std::vector<real> logits = random_logits(1000, 7, 1);
  for (real& x : logits) x += 5000;
  const TopTokens top = top_tokens({logits.data(), 1, 1000}, {.count = 1});
  EXPECT_NEAR(top.best[0].log_probability,
              static_cast<double>(*std::max_element(logits.begin(), logits.end())) - log_sum(logits.data(), 1000),
              1e-2);
}

TEST(TopTokens, AGivenSumIsTaken) {
  std::vector<real> logits = random_logits(300, 9);
  const TopTokens own = top_tokens({logits.data(), 1, 300}, {.count = 5});
  const TopTokens given = top_tokens({logits.data(), 1, 300}, {.count = 5, .log_sum = limpid::log_sum(logits)});
  const TopTokens none = top_tokens({logits.data(), 1, 300}, {.count = 5, .log_sum = real{0}});
  for (int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(given.best[i].id, own.best[i].id);
    EXPECT_EQ(given.best[i].log_probability, own.best[i].log_probability);
    EXPECT_EQ(none.best[i].id, own.best[i].id);
    EXPECT_EQ(none.best[i].log_probability, logits[own.best[i].id]);
  }
  logits[own.best[0].id] = -std::numeric_limits<real>::infinity();  // as rules forbid a token
  EXPECT_EQ(top_tokens({logits.data(), 1, 300}, {.log_sum = real{0}}).best[0].id, own.best[1].id);
}

TEST(TopTokens, WhatIsNoNumberIsAnError) {
  for (const real bad : {std::numeric_limits<real>::quiet_NaN(), std::numeric_limits<real>::infinity()}) {
    for (const size_t place : {0, 130, 299}) {
      std::vector<real> logits = random_logits(300, 9);
      logits[place] = bad;
      EXPECT_THROW(top_tokens({logits.data(), 1, 300}, {.count = 2}), Error) << place;
      EXPECT_THROW(top_tokens({logits.data(), 1, 300}, {.count = 2, .log_sum = real{0}}), Error) << place;
    }
  }
}

}  // namespace
}  // namespace limpid
