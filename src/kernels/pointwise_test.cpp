#include "kernels/pointwise.h"

#include <cmath>
#include <limits>

#include "kernels/test_support.h"

namespace limpid {
namespace {

constexpr double kUnit = std::numeric_limits<real>::epsilon();

// Calls body(rows, cols, gap) for every shape on every instruction set.
template <class Body>
void everywhere(const Body& body) {
  for (const auto& [rows, cols, gap] : kTestShapes) {
    SCOPED_TRACE(testing::Message() << rows << " × " << cols << ", gap " << gap);
    for_each_target([&, rows = rows, cols = cols, gap = gap] { body(rows, cols, gap); });
  }
}

TEST(Pointwise, ProductsWithAndWithoutWhatWasThere) {
  everywhere([](int64_t rows, int64_t cols, int64_t gap) {
    const auto a = TestMatrix::normal(rows, cols, gap, 1), b = TestMatrix::normal(rows, cols, 0, 2);
    for (const bool accumulate : {false, true}) {
      TestMatrix y(rows, cols, gap, 3);
      kernels::multiply_elements(a.view(), b.view(), y.view(), accumulate);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < cols; ++j) {
          const double expected = (accumulate ? 3 : 0) + double{a(i, j)} * double{b(i, j)};
          ASSERT_NEAR(y(i, j), expected, 2 * kUnit * (3 + std::abs(expected)));
        }
      EXPECT_TRUE(y.intact());
    }
  });
}

TEST(Pointwise, ClipAndItsGradient) {
  everywhere([](int64_t rows, int64_t cols, int64_t gap) {
    const auto x = TestMatrix::normal(rows, cols, gap, 1), dy = TestMatrix::normal(rows, cols, 0, 2);
    const real limit = static_cast<real>(0.6);
    TestMatrix y(rows, cols, 2 * gap), dx(rows, cols, gap, 9), sum(rows, cols, gap, 3);
    kernels::clip_forward(x.view(), limit, y.view());
    kernels::clip_backward(x.view(), limit, dy.view(), dx.view(), false);
    kernels::clip_backward(x.view(), limit, dy.view(), sum.view(), true);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) {
        const real through = std::abs(x(i, j)) <= limit ? dy(i, j) : 0;
        ASSERT_EQ(y(i, j), std::clamp(x(i, j), -limit, limit));
        ASSERT_EQ(dx(i, j), through);
        ASSERT_EQ(sum(i, j), 3 + through);
      }
    EXPECT_TRUE(y.intact() && dx.intact() && sum.intact());
  });
}

TEST(Pointwise, RowsTimesANumberAndTheSumsBack) {
  everywhere([](int64_t rows, int64_t cols, int64_t gap) {
    const auto x = TestMatrix::normal(rows, cols, gap, 1), dy = TestMatrix::normal(rows, cols, 0, 2);
    const auto factors = TestMatrix::normal(rows, 1, gap, 3);
    TestMatrix y(rows, cols, gap), more(rows, cols, 0, 3), sums(rows, 1, gap, 5);
    kernels::scale_rows(x.view(), factors.view(), y.view(), false);
    kernels::scale_rows(x.view(), factors.view(), more.view(), true);
    kernels::add_row_products(x.view(), dy.view(), sums.view());
    for (int64_t i = 0; i < rows; ++i) {
      double sum = 5, size = 5;
      for (int64_t j = 0; j < cols; ++j) {
        const double expected = double{x(i, j)} * double{factors(i, 0)}, product = double{x(i, j)} * double{dy(i, j)};
        ASSERT_NEAR(y(i, j), expected, kUnit * std::abs(expected));
        ASSERT_NEAR(more(i, j), 3 + expected, 2 * kUnit * (3 + std::abs(expected)));
        sum += product;
        size += std::abs(product);
      }
      ASSERT_NEAR(sums(i, 0), sum, 12 * kUnit * size);
    }
    EXPECT_TRUE(y.intact() && sums.intact());
  });
}

}  // namespace
}  // namespace limpid
