#include "kernels/dropout.h"

#include <cmath>

#include "kernels/test_support.h"

namespace limpid {
namespace {

// The fraction kept of n indices from start on, every step-th of them.
double kept(const Dropout& dropout, uint64_t start, uint64_t step, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) count += dropout_keeps(dropout, start + i * step);
  return static_cast<double>(count) / n;
}

// Of pairs given by their two indices and keys: the correlation of being kept, which is about 0 ± 1/√n where
// independent.
template <class Pair>
double correlation(double rate, int n, const Pair& pair) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const auto [a, b] = pair(i);
    sum += (a - (1 - rate)) * (b - (1 - rate));
  }
  return sum / n / (rate * (1 - rate));
}

constexpr int kDraws = 30000;
constexpr double kSigmas = 4.5;  // the draws are fixed: a good hash passes once and for all

TEST(Dropout, KeepsTheRate) {
  for (float rate : {0.001f, 0.1f, 0.3f, 0.5f, 0.9f}) {
    EXPECT_NEAR((1 + dropout_limit(rate)) * 0x1p-32 + 0.5, rate,
                0x1p-31);  // of all hashes, those at or below the limit
    const double sigma = std::sqrt(rate * (1 - rate) / kDraws);
    for (uint64_t key : {0ull, 1ull, 2ull, 1ull << 32, 0x123456789abcdefull}) {
      const Dropout dropout{rate, key};
      EXPECT_NEAR(kept(dropout, 0, 1, kDraws), 1 - rate, kSigmas * sigma);
      EXPECT_NEAR(kept(dropout, 0, 1024, kDraws), 1 - rate, kSigmas * sigma);        // a column of a matrix
      EXPECT_NEAR(kept(dropout, 0, 1ull << 32, kDraws), 1 - rate, kSigmas * sigma);  // the upper half alone
      EXPECT_NEAR(kept(dropout, 0xfffffff0ull, 1, kDraws), 1 - rate, kSigmas * sigma);
    }
  }
}

TEST(Dropout, KeepsAllOrNothingAtTheEnds) {
  EXPECT_EQ(kept({0, 7}, 0, 1, kDraws), 1);
  EXPECT_EQ(kept({1, 7}, 0, 1, kDraws), 0);
  EXPECT_EQ(dropout_scale(0), 1);
  EXPECT_EQ(dropout_scale(0.5f), 2);
  EXPECT_EQ(dropout_scale(1), 0);
}

TEST(Dropout, NeighboursAreIndependent) {
  for (double rate : {0.1, 0.5}) {
    for (uint64_t key : {0ull, 5ull, 0xdeadbeefull << 20}) {
      const Dropout d{static_cast<float>(rate), key};
      for (uint64_t distance : {1, 2, 3, 4, 8, 16, 64, 128, 512, 1024, 4096, 65536}) {
        const double c = correlation(
            rate, kDraws, [&](uint64_t i) { return std::pair(dropout_keeps(d, i), dropout_keeps(d, i + distance)); });
        EXPECT_LT(std::abs(c), kSigmas / std::sqrt(kDraws)) << "distance " << distance;
      }
    }
  }
}

TEST(Dropout, KeysAreIndependent) {
  for (double rate : {0.1, 0.5}) {
    const Dropout d{static_cast<float>(rate), 42};
    for (int bit = 0; bit < 64; ++bit) {
      const Dropout other{d.rate, d.key ^ (1ull << bit)};
      const double c = correlation(rate, kDraws / 4,
                                   [&](uint64_t i) { return std::pair(dropout_keeps(d, i), dropout_keeps(other, i)); });
      EXPECT_LT(std::abs(c), kSigmas / std::sqrt(kDraws / 4)) << "bit " << bit;
    }
  }
}

// Groups of eight neighbours: all 256 patterns come up as often as they should (chi-squared, 255 degrees of freedom).
TEST(Dropout, PatternsOfEightAreUniform) {
  for (uint64_t key : {0ull, 1ull, 77ull}) {
    std::vector<double> counts(256);
    constexpr int kGroups = 256 * 200;
    for (uint64_t i = 0; i < kGroups; ++i) {
      int pattern = 0;
      for (uint64_t j = 0; j < 8; ++j) pattern = pattern * 2 + dropout_keeps({0.5f, key}, i * 8 + j);
      ++counts[pattern];
    }
    double chi = 0;
    for (double c : counts) chi += (c - 200) * (c - 200) / 200;
    EXPECT_NEAR(chi, 255, kSigmas * std::sqrt(2 * 255));
  }
}

TEST(Dropout, ForwardIsItsSpecification) {
  for_each_target([] {
    for (const auto& [rows, cols, gap] : kTestShapes) {
      for (float rate : {0.f, 0.3f}) {
        const Dropout dropout{rate, 99};
        const auto x = TestMatrix::normal(rows, cols, gap, 1), residual = TestMatrix::normal(rows, cols, 2 * gap, 2);
        TestMatrix y(rows, cols, gap), sum(rows, cols, gap), in_place = x;
        kernels::dropout_forward(dropout, {}, x.view(), y.view());
        kernels::dropout_forward(dropout, residual.view(), x.view(), sum.view());
        kernels::dropout_forward(dropout, residual.view(), in_place.view(), in_place.view());
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < cols; ++j) {
            const real scaled = x(i, j) * dropout_scale(rate);
            const real expected = dropout_keeps(dropout, i * cols + j) ? scaled : real(0);
            ASSERT_EQ(y(i, j), expected) << i << ", " << j << " of " << rows << " × " << cols;
            ASSERT_NEAR(sum(i, j), residual(i, j) + expected, 1e-6);  // one may have been rounded, the other not
          }
        }
        EXPECT_TRUE(y.intact() && sum.intact());
        EXPECT_EQ(in_place, sum);
      }
    }
  });
}

TEST(Dropout, BackwardDrawsTheSameMask) {
  for (const auto& [rows, cols, gap] : kTestShapes) {
    const Dropout dropout{0.4f, 3};
    const auto dy = TestMatrix::normal(rows, cols, gap, 1), before = TestMatrix::normal(rows, cols, gap, 2);
    TestMatrix dx(rows, cols, gap), added = before, expected(rows, cols, gap), expected_sum(rows, cols, gap);
    kernels::dropout_backward(dropout, dy.view(), dx.view(), false);
    kernels::dropout_backward(dropout, dy.view(), added.view(), true);
    kernels::dropout_forward(dropout, {}, dy.view(), expected.view());
    kernels::dropout_forward(dropout, before.view(), dy.view(), expected_sum.view());
    EXPECT_EQ(dx, expected);
    EXPECT_EQ(added, expected_sum);
  }
}

// A batch large enough to be cut into several ranges, with and without gaps between its rows.
TEST(Dropout, ThreadsDoNotChangeTheMask) {
  const Dropout dropout{0.2f, 8};
  for (int64_t gap : {0, 3}) {
    const TestMatrix ones(301, 257, gap, 1);
    TestMatrix expected(301, 257, gap);
    for (int64_t i = 0; i < 301; ++i) {
      for (int64_t j = 0; j < 257; ++j) expected(i, j) = dropout_keeps(dropout, i * 257 + j) ? dropout_scale(0.2f) : 0;
    }
    with_threads([&] {
      TestMatrix y(301, 257, gap);
      kernels::dropout_forward(dropout, {}, ones.view(), y.view());
      EXPECT_EQ(y, expected);
    });
  }
}

}  // namespace
}  // namespace limpid
