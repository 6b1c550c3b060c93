#include "kernels/reduce.h"

#include <cmath>
#include <limits>

#include "kernels/test_support.h"

namespace limpid {
namespace {

constexpr double kEps = std::numeric_limits<real>::epsilon();

void expect_column_sums(const TestMatrix& x) {
  const int64_t cols = x.cols();
  TestMatrix sums(1, cols, 3, 77), added(1, cols, 3, 2);
  kernels::column_sums(x.view(), sums.data(), false);
  kernels::column_sums(x.view(), added.data(), true);
  for (int64_t j = 0; j < cols; ++j) {
    long double sum = 0, size = 2;
    for (int64_t i = 0; i < x.rows(); ++i) {
      sum += x(i, j);
      size += std::abs(x(i, j));
    }
    // Eight rows are added in pairs and ranges by themselves, which keeps the roundings few.
    const double tolerance = 2 * kEps * static_cast<double>(size);
    ASSERT_NEAR(sums(0, j), static_cast<double>(sum), tolerance) << j << " of " << x.rows() << " × " << cols;
    ASSERT_NEAR(added(0, j), static_cast<double>(2 + sum), tolerance) << j << " of " << x.rows() << " × " << cols;
  }
  EXPECT_TRUE(sums.intact() && added.intact());
}

TEST(ColumnSums, AreTheSpecification) {
  std::vector<TestShape> shapes = kTestShapes;
  shapes.insert(shapes.end(),
                {{8, 5, 0}, {7, 40, 1}, {300, 130, 3}, {2500, 67, 7}, {2048, 32, 0}, {20000, 1, 0}, {40, 3000, 0}});
  for (const auto& [rows, cols, gap] : shapes) {
    const auto x = TestMatrix::normal(rows, cols, gap, 1, 1, 0.5);
    for_each_target([&] { expect_column_sums(x); });
  }
}

TEST(ColumnSums, ThreadsDoNotChangeABit) {
  const auto x = TestMatrix::normal(1501, 61, 3, 1);
  TestMatrix first(1, 61);
  kernels::column_sums(x.view(), first.data(), false);
  with_threads([&] {
    TestMatrix sums(1, 61);
    kernels::column_sums(x.view(), sums.data(), false);
    EXPECT_EQ(sums, first);
  });
}

TEST(SumOfSquares, IsTheSpecification) {
  for (int64_t n : {0, 1, 3, 8, 15, 31, 32, 33, 1000, 65536, 65537, 100003}) {
    const auto x = TestMatrix::normal(1, n, 1, 1);
    long double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += static_cast<long double>(x(0, j)) * x(0, j);
    for_each_target([&] {
      EXPECT_NEAR(kernels::sum_of_squares(x.data(), n), static_cast<double>(sum), 1e-13 * static_cast<double>(sum));
    });
  }
}

// In float the small squares would vanish beside the large one.
TEST(SumOfSquares, KeepsSmallTermsBesideALargeOne) {
  TestMatrix x(1, 100001, 0, real(0.25));
  x(0, 17) = 16384;
  EXPECT_EQ(kernels::sum_of_squares(x.data(), x.cols()), 0x1p28 + 100000 * 0.0625);
}

TEST(SumOfSquares, ThreadsDoNotChangeABit) {
  const auto x = TestMatrix::normal(1, 150007, 0, 1);
  const double first = kernels::sum_of_squares(x.data(), x.cols());
  with_threads([&] { EXPECT_EQ(kernels::sum_of_squares(x.data(), x.cols()), first); });
}

}  // namespace
}  // namespace limpid
