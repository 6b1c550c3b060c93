#include "kernels/row_gemm.h"

#include <cmath>
#include <limits>

#include "base/random_cases.h"
#include "kernels/test_support.h"

namespace limpid {
namespace {

using kernels::StoredMatrix;
using kernels::Transpose;

struct Sizes {
  int64_t rows, inputs, outputs;
};

// On both sides of tiles, vectors, panels and blocks of rows.
constexpr Sizes kSizes[] = {{0, 5, 3},    {5, 3, 0},   {1, 1, 1},    {1, 33, 70},    {3, 16, 64},   {2, 17, 11},
                            {7, 20, 129}, {40, 5, 65}, {257, 3, 17}, {300, 19, 100}, {4, 600, 200}, {2, 0, 4}};

// Numbers as a type stores them, and what they are.
struct Stored {
  std::vector<char> bytes;
  TestMatrix numbers;
  StoredMatrix matrix;

  Stored(DType type, int64_t rows, int64_t cols, uint64_t seed)
      : bytes(static_cast<size_t>(bytes_of(type, rows * cols)) + 1), numbers(TestMatrix::normal(rows, cols, 0, seed)) {
    from_real(numbers.data(), rows * cols, type, bytes.data());
    to_real(type, bytes.data(), rows * cols, numbers.data());
    matrix = {type, bytes.data(), rows, cols};
  }
};

// How a product gets its weights.
struct Case {
  Transpose transpose = Transpose::yes;
  DType type = kRealType;
  bool packed = false;

  bool by_output() const { return transpose == Transpose::yes; }
  Stored weights(int64_t inputs, int64_t outputs) const {
    return {type, by_output() ? outputs : inputs, by_output() ? inputs : outputs, 2};
  }
  void multiply(ConstMatrix x, const Stored& w, Matrix y, const real* bias) const {
    if (packed)
      kernels::row_gemm(x, kernels::pack(w.matrix), y, bias);
    else
      kernels::row_gemm(x, transpose, w.matrix, y, bias);
  }
};

constexpr Case kCases[] = {{Transpose::no},
                           {Transpose::yes},
                           {Transpose::no, DType::f16},
                           {Transpose::yes, DType::f16},
                           {Transpose::no, DType::bf16},
                           {Transpose::yes, DType::bf16},
                           {Transpose::yes, kRealType, true},
                           {Transpose::yes, DType::f16, true},
                           {Transpose::yes, DType::bf16, true}};

void expect_formula(const Sizes& s, const Case& c) {
  const bool by_output = c.by_output();
  const TestMatrix x = TestMatrix::normal(s.rows, s.inputs, 3, 1), bias = TestMatrix::normal(1, s.outputs + 1, 0, 3);
  const Stored w = c.weights(s.inputs, s.outputs);
  TestMatrix y(s.rows, s.outputs, 4, 7);
  c.multiply(x.view(), w, y.view(), bias.data());
  for (int64_t i = 0; i < s.rows; ++i) {
    for (int64_t j = 0; j < s.outputs; ++j) {
      long double sum = bias(0, j), size = std::abs(sum);
      for (int64_t p = 0; p < s.inputs; ++p) {
        const long double term = static_cast<long double>(x(i, p)) * (by_output ? w.numbers(j, p) : w.numbers(p, j));
        sum += term, size += std::abs(term);
      }
      const long double bound = std::numeric_limits<real>::epsilon() * static_cast<long double>(s.inputs + 1) * size;
      ASSERT_LE(std::abs(y(i, j) - sum), bound) << i << ", " << j;
    }
  }
  EXPECT_TRUE(y.intact());
}

TEST(RowGemm, IsTheFormula) {
  for (const Sizes& s : kSizes) {
    for (const Case& c : kCases) {
      SCOPED_TRACE(testing::Message() << s.rows << "×" << s.inputs << "×" << s.outputs << " " << name_of(c.type)
                                      << (c.by_output() ? " by outputs" : "") << (c.packed ? " packed" : ""));
      for_each_target([&] { expect_formula(s, c); });
    }
  }
}

TEST(RowGemm, IsTheFormulaOnRandomShapes) {
  for (int64_t number = 0; number < random_cases(200); ++number) {
    Random random(static_cast<uint64_t>(number));
    const Sizes s{random_size(random, 120), random_size(random, 300), random_size(random, 200)};
    const Case& c = kCases[random.below(std::ssize(kCases))];
    SCOPED_TRACE(testing::Message() << "case " << number << ": " << s.rows << "×" << s.inputs << "×" << s.outputs);
    expect_formula(s, c);
    if (HasFailure()) return;
  }
}

TEST(RowGemm, ARowDoesNotDependOnTheOthers) {
  const int64_t rows = 300, inputs = 137, outputs = 91;
  const TestMatrix x = TestMatrix::normal(rows, inputs, 1, 1);
  for (const Case& c : kCases) {
    const Stored w = c.weights(inputs, outputs);
    for_each_target([&] {
      TestMatrix all(rows, outputs);
      c.multiply(x.view(), w, all.view(), nullptr);
      for (const int64_t count : {1, 2, 5, 6, 17, 44}) {
        for (const int64_t first : {0, 3, 250}) {
          TestMatrix some(count, outputs);
          c.multiply(x.view().rows_from(first, count), w, some.view(), nullptr);
          for (int64_t i = 0; i < count; ++i)
            for (int64_t j = 0; j < outputs; ++j) ASSERT_EQ(some(i, j), all(first + i, j)) << count << " rows";
        }
      }
    });
  }
}

// Weights that lie side by side are multiplied as one matrix, and apart as several.
TEST(RowGemm, AnOutputDoesNotDependOnTheOthers) {
  const int64_t inputs = 137, outputs = 91;
  for (const int64_t rows : {1, 3, 50}) {
    const TestMatrix x = TestMatrix::normal(rows, inputs, 1, 1);
    for (const Case& c : kCases) {
      if (!c.by_output() || c.packed) continue;
      const Stored w = c.weights(inputs, outputs);
      for_each_target([&] {
        TestMatrix all(rows, outputs);
        c.multiply(x.view(), w, all.view(), nullptr);
        for (const int64_t first : {1, 2, 4, 7}) {
          const StoredMatrix rest{c.type, w.bytes.data() + bytes_of(c.type, first * inputs), outputs - first, inputs};
          TestMatrix some(rows, outputs - first);
          kernels::row_gemm(x.view(), Transpose::yes, rest, some.view(), nullptr);
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < some.cols(); ++j) ASSERT_EQ(some(i, j), all(i, first + j)) << first << " left out";
        }
      });
    }
  }
}

}  // namespace
}  // namespace limpid
