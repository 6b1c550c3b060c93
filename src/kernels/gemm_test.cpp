// Products against the plain formula in double: every way to transpose, bias, accumulation, sizes of one and of several
// blocks, gaps between rows; and the same bits with any number of threads.

#include "kernels/gemm.h"

#include <cmath>

#include "base/error.h"
#include "base/parallel_statistics.h"
#include "base/random_cases.h"
#include "kernels/test_support.h"

#ifndef LIMPID_F64
#include <dnnl.h>
#endif

namespace limpid {
namespace {

using kernels::Transpose;

struct Size {
  int64_t rows, cols, depth;
  bool several_blocks;  // threads share it
};
const std::vector<Size> kSizes = {{1, 1, 1, false},    {3, 5, 7, false},   {64, 64, 16, false}, {2, 65, 33, true},
                                  {130, 17, 20, true}, {33, 300, 9, true}, {1100, 40, 5, true}, {40, 2100, 3, true}};

struct Case {
  Transpose a, b;
  bool bias, accumulate;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (Transpose a : {Transpose::no, Transpose::yes})
    for (Transpose b : {Transpose::no, Transpose::yes})
      for (bool bias : {false, true})
        for (bool accumulate : {false, true}) all.push_back({a, b, bias, accumulate});
  return all;
}

TestMatrix operand(Transpose transpose, int64_t rows, int64_t cols, uint64_t key) {
  return transpose == Transpose::no ? TestMatrix::normal(rows, cols, 3, key) : TestMatrix::normal(cols, rows, 3, key);
}

real at(const TestMatrix& m, Transpose transpose, int64_t i, int64_t j) {
  return transpose == Transpose::no ? m(i, j) : m(j, i);
}

struct Operands {
  const TestMatrix &a, &b, &bias, &before;
  Case how;
};

void expect_product(const Operands& of, const TestMatrix& y) {
  const Case& c = of.how;
  const int64_t depth = c.a == Transpose::no ? of.a.cols() : of.a.rows();
  // One rounding a term at most, of numbers of size √depth.
  const double tolerance =
      4 * static_cast<double>(depth + 2) * static_cast<double>(std::numeric_limits<real>::epsilon());
  EXPECT_TRUE(y.intact());
  for (int64_t i = 0; i < y.rows(); ++i)
    for (int64_t j = 0; j < y.cols(); ++j) {
      double sum = c.accumulate ? static_cast<double>(of.before(i, j)) : 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += static_cast<double>(at(of.a, c.a, i, k)) * static_cast<double>(at(of.b, c.b, k, j));
      if (c.bias) sum += static_cast<double>(of.bias(0, j));
      ASSERT_NEAR(static_cast<double>(y(i, j)), sum, tolerance * (1 + std::abs(sum))) << i << ", " << j;
    }
}

TEST(Gemm, IsTheFormulaWithAnyNumberOfThreads) {
  for (const Size& size : kSizes) {
    for (const Case& c : cases()) {
      SCOPED_TRACE(testing::Message() << size.rows << "×" << size.cols << "×" << size.depth << " a"
                                      << (c.a == Transpose::yes ? "ᵀ" : "") << " b"
                                      << (c.b == Transpose::yes ? "ᵀ" : "") << (c.bias ? " bias" : "")
                                      << (c.accumulate ? " accumulate" : ""));
      const TestMatrix a = operand(c.a, size.rows, size.depth, 1), b = operand(c.b, size.depth, size.cols, 2);
      const TestMatrix bias = TestMatrix::normal(1, size.cols, 0, 3),
                       before = TestMatrix::normal(size.rows, size.cols, 5, 4);
      TestMatrix alone = before;
      for (int count : {1, 2, 3}) {
        set_threads(count);
        TestMatrix y = before;
        const int64_t shared = shared_loops();
        kernels::gemm(c.a, a.view(), c.b, b.view(), y.view(), c.accumulate, c.bias ? bias.data() : nullptr);
        EXPECT_EQ(shared_loops() > shared, count > 1 && size.several_blocks);
        EXPECT_TRUE(y.intact());
        if (count == 1) alone = y;
        EXPECT_TRUE(y == alone) << count << " threads";
      }
      set_threads(0);
      expect_product({a, b, bias, before, c}, alone);
    }
  }
}

TEST(Gemm, IsTheFormulaOnRandomShapes) {
  for (int64_t number = 0; number < random_cases(200); ++number) {
    Random random(static_cast<uint64_t>(number));
    const int64_t rows = random_size(random, 150), cols = random_size(random, 150), depth = random_size(random, 200);
    const std::vector<Case> all = cases();
    const Case& c = all[static_cast<size_t>(random.below(std::ssize(all)))];
    SCOPED_TRACE(testing::Message() << "case " << number << ": " << rows << "×" << cols << "×" << depth);
    const TestMatrix a = operand(c.a, rows, depth, 1), b = operand(c.b, depth, cols, 2);
    const TestMatrix bias = TestMatrix::normal(1, cols, 0, 3), before = TestMatrix::normal(rows, cols, 5, 4);
    TestMatrix y = before;
    kernels::gemm(c.a, a.view(), c.b, b.view(), y.view(), c.accumulate, c.bias ? bias.data() : nullptr);
    expect_product({a, b, bias, before, c}, y);
    if (HasFailure()) return;
  }
}

TEST(Gemm, OfNothing) {
  TestMatrix a(0, 4), b(4, 3), c(0, 3);
  kernels::gemm(Transpose::no, a.view(), Transpose::no, b.view(), c.view(), false);
  TestMatrix none(2, 0), other(0, 3), zero(2, 3, 1, 7);
  kernels::gemm(Transpose::no, none.view(), Transpose::no, other.view(), zero.view(), false);  // a sum of no terms
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j) EXPECT_EQ(zero(i, j), real{0});
  EXPECT_TRUE(zero.intact());
}

TEST(Gemm, RefusesShapesThatDoNotFit) {
  const TestMatrix a(2, 3), b(4, 5);
  TestMatrix c(2, 5);
  EXPECT_THROW(kernels::gemm(Transpose::no, a.view(), Transpose::no, b.view(), c.view(), false), Error);
}

#ifndef LIMPID_F64
// Virtual machines announce AMX and then do not deliver it.
TEST(Gemm, StaysBelowAmx) {
  const TestMatrix a = TestMatrix::normal(3, 4, 0, 1), b = TestMatrix::normal(4, 5, 0, 2);
  TestMatrix c(3, 5);
  kernels::gemm(Transpose::no, a.view(), Transpose::no, b.view(), c.view(), false);
  EXPECT_LT(dnnl_get_effective_cpu_isa(), dnnl_cpu_isa_avx512_core_amx);
}
#endif

}  // namespace
}  // namespace limpid
