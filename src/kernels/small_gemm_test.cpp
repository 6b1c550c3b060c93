#include "kernels/small_gemm.h"

#include <limits>

#include "kernels/test_support.h"

namespace limpid {
namespace {

struct Sizes {
  int64_t m, n, k;
};

// Rows and columns on both sides of every tile and vector.
std::vector<Sizes> sizes() {
  std::vector<Sizes> all{{0, 5, 3}, {5, 0, 3}, {64, 64, 64}, {7, 130, 9}, {40, 3, 1}};
  for (int64_t m = 1; m <= 14; ++m) all.push_back({m, 16 * (m % 6) + m, 5 + m % 3});
  for (int64_t n = 1; n <= 82; n += 3) all.push_back({3 + n % 9, n, n % 7});
  return all;
}

TEST(SmallGemm, IsTheFormula) {
  for (const Sizes& s : sizes()) {
    for (bool transpose : {false, true}) {
      for (bool accumulate : {false, true}) {
        SCOPED_TRACE(testing::Message() << s.m << "×" << s.n << "×" << s.k << (transpose ? " transposed" : ""));
        const TestMatrix a = transpose ? TestMatrix::normal(s.k, s.m, 3, 1) : TestMatrix::normal(s.m, s.k, 3, 1);
        const TestMatrix b = TestMatrix::normal(s.k, s.n, 2, 2), before = TestMatrix::normal(s.m, s.n, 5, 3);
        const TestMatrix alpha = TestMatrix::normal(1, s.m + 1, 0, 4);
        for_each_target([&] {
          TestMatrix c = before;
          kernels::small_gemm({.a = transpose ? kernels::transposed(a.view()) : kernels::as_is(a.view()),
                               .b = b.view(),
                               .c = c.view(),
                               .alpha = alpha.data(),
                               .alpha_step = accumulate,
                               .accumulate = accumulate});
          for (int64_t i = 0; i < s.m; ++i) {
            for (int64_t j = 0; j < s.n; ++j) {
              long double sum = 0, size = 0;
              for (int64_t p = 0; p < s.k; ++p) {
                const long double term = static_cast<long double>(transpose ? a(p, i) : a(i, p)) * b(p, j);
                sum += term, size += std::abs(term);
              }
              const long double factor = alpha(0, accumulate ? i : 0), base = accumulate ? before(i, j) : real(0);
              // k roundings of the sum and two after it
              const long double bound =
                  std::numeric_limits<real>::epsilon() *
                  ((static_cast<long double>(s.k) + 2) * size * std::abs(factor) + std::abs(base));
              ASSERT_LE(std::abs(c(i, j) - (base + factor * sum)), bound) << i << ", " << j;
            }
          }
          EXPECT_TRUE(c.intact());
        });
      }
    }
  }
}

TEST(SmallGemm, NumberDependsOnItsRowAndColumnAlone) {
  const TestMatrix a = TestMatrix::normal(40, 30, 0, 1), b = TestMatrix::normal(30, 100, 0, 2);
  for_each_target([&] {
    TestMatrix whole(40, 100);
    kernels::small_gemm({.a = kernels::as_is(a.view()), .b = b.view(), .c = whole.view()});
    for (int64_t i : {0, 5, 39}) {
      for (int64_t j : {0, 31, 99}) {
        real one;
        kernels::small_gemm({.a = {a.view().row(i)}, .b = b.view().cols_from(j, 1), .c = Matrix(&one, 1, 1)});
        EXPECT_EQ(one, whole(i, j));
      }
    }
  });
}

}  // namespace
}  // namespace limpid
