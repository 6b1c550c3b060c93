#include "kernels/quantized_gemm.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.h"
#include "kernels/instruction_set.h"
#include "kernels/test_support.h"
#include "tensor/block_types.h"
#include "tensor/quantize.h"

namespace limpid {
namespace {

using kernels::QuantizedMatrix;

// A matrix as a file has it.
struct StoredTestMatrix {
  DType type;
  int64_t rows, cols;
  std::vector<std::byte> bytes;
  std::vector<float> scales;

  StoredTestMatrix(DType type_, int64_t rows_, int64_t cols_, uint64_t key)
      : type(type_), rows(rows_), cols(cols_), bytes(bytes_of(type_, rows_ * cols_)), scales(rows_) {
    const TestMatrix numbers = TestMatrix::normal(rows, cols, 0, key);
    for (int64_t i = 0; i < rows; ++i)
      quantize_row(numbers.view().row(i), cols, type, bytes.data() + i * bytes_of(type, cols), &scales[i], "test");
  }
  StoredTestMatrix(DType type_, int64_t rows_, int64_t cols_)  // to be filled
      : type(type_), rows(rows_), cols(cols_), bytes(bytes_of(type_, rows_ * cols_)), scales(rows_) {}
  QuantizedMatrix packed() const { return kernels::pack_quantized(type, bytes.data(), scales.data(), rows, cols); }
  std::vector<real> row(int64_t i) const {
    std::vector<real> numbers(cols);
    dequantize_row(type, bytes.data() + i * bytes_of(type, cols), scales[i], cols, numbers.data());
    return numbers;
  }
};

// x as the kernel sees it: 8-bit numbers with one factor per block.
std::vector<double> quantized(const real* x, int64_t cols, int64_t block) {
  std::vector<double> result(cols);
  for (int64_t begin = 0; begin < cols; begin += block) {
    const int64_t end = std::min(cols, begin + block);
    float largest = 0;
    for (int64_t j = begin; j < end; ++j) largest = std::max(largest, std::abs(static_cast<float>(x[j])));
    const float inverse = largest > 0 ? 127 / largest : 0, factor = largest / 127;
    for (int64_t j = begin; j < end; ++j)
      result[j] = static_cast<double>(factor) * std::nearbyint(static_cast<float>(x[j]) * inverse);
  }
  return result;
}

struct Shape {
  int64_t rows, outputs, inputs;
};
// Rows and outputs on both sides of every tile and panel.
std::vector<Shape> shapes(DType type) {
  std::vector<Shape> all{{1, 1, 32}, {2, 63, 64}, {5, 65, 96}, {7, 130, 32}, {13, 64, 160}, {0, 5, 32}, {19, 200, 128}};
  for (int64_t rows = 1; rows <= 9; ++rows) all.push_back({rows, 40 + 3 * rows, 32 * (1 + rows % 3)});
  if (type == DType::q8)
    for (int64_t inputs : {1, 2, 3, 5, 12, 31, 33, 70}) all.push_back({3, 21, inputs});
  return all;
}

constexpr DType kTypes[] = {DType::q8_0, DType::q4_0, DType::q8};

TEST(QuantizedGemm, IsTheFormula) {
  for (const DType type : kTypes) {
    for (const Shape& s : shapes(type)) {
      SCOPED_TRACE(testing::Message() << name_of(type) << " " << s.rows << "×" << s.outputs << "×" << s.inputs);
      const StoredTestMatrix w(type, s.outputs, s.inputs, 7);
      const TestMatrix x = TestMatrix::normal(s.rows, s.inputs, 3, 8, 2), bias = TestMatrix::normal(1, s.outputs, 0, 9);
      const QuantizedMatrix packed = w.packed();
      const int64_t block = type == DType::q8 ? s.inputs : kBlockNumbers;
      for_each_target([&] {
        for (const bool with_bias : {false, true}) {
          TestMatrix y(s.rows, s.outputs, 5);
          const kernels::QuantizedPart part{&packed, with_bias ? bias.data() : nullptr, 0};
          kernels::quantized_gemm(x.view(), std::span(&part, 1), y.view());
          for (int64_t i = 0; i < s.rows; ++i) {
            const std::vector<double> row = quantized(x.view().row(i), s.inputs, block);
            for (int64_t o = 0; o < s.outputs; ++o) {
              const std::vector<real> weights = w.row(o);
              double sum = with_bias ? bias(0, o) : 0, size = std::abs(sum);
              for (int64_t j = 0; j < s.inputs; ++j) {
                sum += row[j] * static_cast<double>(weights[j]);
                size += std::abs(row[j] * static_cast<double>(weights[j]));
              }
              // three roundings of a factor, one of a sum for each block, and those of the weights here
              const double blocks = static_cast<double>((s.inputs + 31) / 32);
              const double bound = std::numeric_limits<float>::epsilon() * (6 + blocks) * size;
              ASSERT_NEAR(y(i, o), sum, bound) << i << ", " << o;
            }
          }
          EXPECT_TRUE(y.intact());
        }
      });
    }
  }
}

// A matrix of random bytes, its 16-bit scales of a usual size: every pattern of bits is a block.
StoredTestMatrix random_blocks(const BlockType& blocks, int64_t rows, int64_t cols) {
  StoredTestMatrix w(blocks.type, rows, cols);
  Random random(3);
  for (std::byte& byte : w.bytes) byte = static_cast<std::byte>(random.below(256));
  const auto put_half = [&](size_t at) {
    const uint16_t half = to_f16(0.01F * (static_cast<float>(random.below(200)) - 100) / 100);
    std::memcpy(w.bytes.data() + at, &half, sizeof half);
  };
  const bool behind =
      blocks.type == DType::q2_k || blocks.type == DType::q3_k || blocks.type == DType::q6_k;  // the quants
  for (size_t at = 0; at < w.bytes.size(); at += static_cast<size_t>(blocks.bytes)) {
    const size_t first = !behind ? 0 : static_cast<size_t>(blocks.bytes) - (blocks.affine ? 4 : 2);
    put_half(at + first);
    if (blocks.affine) put_half(at + first + 2);
  }
  return w;
}

TEST(QuantizedGemm, BlocksOfAllTypesAreTheFormula) {
  for (const char* name : {"Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL"}) {
    const BlockType& blocks = *block_type_named(name);
    for (const Shape& s : {Shape{1, 5, 256}, Shape{7, 70, 512}, Shape{3, 64, 768}}) {
      SCOPED_TRACE(testing::Message() << name << " " << s.rows << "×" << s.outputs << "×" << s.inputs);
      const StoredTestMatrix w = random_blocks(blocks, s.outputs, s.inputs);
      const TestMatrix x = TestMatrix::normal(s.rows, s.inputs, 3, 8, 2), bias = TestMatrix::normal(1, s.outputs, 0, 9);
      const QuantizedMatrix packed = w.packed();
      for_each_target([&] {
        TestMatrix y(s.rows, s.outputs, 5);
        const kernels::QuantizedPart part{&packed, bias.data(), 0};
        kernels::quantized_gemm(x.view(), std::span(&part, 1), y.view());
        for (int64_t i = 0; i < s.rows; ++i) {
          const std::vector<double> row = quantized(x.view().row(i), s.inputs, kBlockNumbers);
          for (int64_t o = 0; o < s.outputs; ++o) {
            double sum = bias(0, o), size = std::abs(sum);
            for (int64_t j = 0; j < s.inputs; ++j) {
              const SubBlock sub =
                  read_sub_block(blocks.type, w.bytes.data() + o * bytes_of(blocks.type, s.inputs), j / 32);
              const auto half = static_cast<size_t>(j % 32 / 16);
              const double plain = static_cast<double>(sub.factor[half]) * sub.q[static_cast<size_t>(j % 32)];
              sum += row[j] * (plain - static_cast<double>(sub.minimum[half]));
              size += std::abs(row[j]) * (std::abs(plain) + std::abs(static_cast<double>(sub.minimum[half])));
            }
            // scales, minima and sums within a block are exact: what is left are roundings of products and of sums,
            // at most four for each half of a block
            const double roundings = 6 + 4 * static_cast<double>(s.inputs) / 16;
            ASSERT_NEAR(y(i, o), sum, std::numeric_limits<float>::epsilon() / 2 * roundings * size) << i << ", " << o;
          }
        }
        EXPECT_TRUE(y.intact());
      });
    }
  }
}

TEST(QuantizedGemm, RowDoesNotDependOnItsNeighboursOrOnThreads) {
  for (const DType type : kTypes) {
    const QuantizedMatrix w = StoredTestMatrix(type, 150, 96, 1).packed();
    const kernels::QuantizedPart part{&w, nullptr, 0};
    const TestMatrix x = TestMatrix::normal(23, 96, 0, 2);
    for_each_target([&] {
      TestMatrix all(23, 150);
      kernels::quantized_gemm(x.view(), std::span(&part, 1), all.view());
      with_threads([&] {
        for (int64_t i : {0, 3, 22}) {
          TestMatrix one(1, 150);
          kernels::quantized_gemm(x.view().rows_from(i, 1), std::span(&part, 1), one.view());
          for (int64_t o = 0; o < 150; ++o) ASSERT_EQ(one(0, o), all(i, o)) << name_of(type) << " " << i << ", " << o;
        }
      });
    });
  }
}

TEST(QuantizedGemm, RowOfBlocksDoesNotDependOnItsNeighboursOrOnThreads) {
  for (const char* name : {"Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL"}) {
    const QuantizedMatrix w = random_blocks(*block_type_named(name), 150, 512).packed();
    const kernels::QuantizedPart part{&w, nullptr, 0};
    const TestMatrix x = TestMatrix::normal(9, 512, 0, 2);
    for_each_target([&] {
      TestMatrix all(9, 150);
      kernels::quantized_gemm(x.view(), std::span(&part, 1), all.view());
      with_threads([&] {
        for (int64_t i : {0, 3, 8}) {
          TestMatrix one(1, 150);
          kernels::quantized_gemm(x.view().rows_from(i, 1), std::span(&part, 1), one.view());
          for (int64_t o = 0; o < 150; ++o) ASSERT_EQ(one(0, o), all(i, o)) << name << " " << i << ", " << o;
        }
      });
    });
  }
}

TEST(QuantizedGemm, DotProductsOfBytesChangeNothing) {
  if (!kernels::uses_byte_dot_products()) GTEST_SKIP() << "this processor has none";
  const TestMatrix x = TestMatrix::normal(9, 512, 0, 2);
  std::vector<std::pair<std::string, QuantizedMatrix>> matrices;
  for (const DType type : kTypes) matrices.emplace_back(name_of(type), StoredTestMatrix(type, 150, 512, 1).packed());
  for (const char* name : {"Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL"})
    matrices.emplace_back(name, random_blocks(*block_type_named(name), 150, 512).packed());
  for (const auto& [name, w] : matrices) {
    const kernels::QuantizedPart part{&w, nullptr, 0};
    TestMatrix with(9, 150), without(9, 150);
    kernels::quantized_gemm(x.view(), std::span(&part, 1), with.view());
    kernels::use_byte_dot_products(false);
    kernels::quantized_gemm(x.view(), std::span(&part, 1), without.view());
    kernels::use_byte_dot_products(true);
    for (int64_t i = 0; i < 9; ++i)
      for (int64_t o = 0; o < 150; ++o) ASSERT_EQ(with(i, o), without(i, o)) << name << " " << i << ", " << o;
  }
}

TEST(QuantizedGemm, SeveralMatricesStandSideBySide) {
  const QuantizedMatrix a = StoredTestMatrix(DType::q4_0, 70, 64, 1).packed();
  const QuantizedMatrix b = StoredTestMatrix(DType::q4_0, 30, 64, 2).packed();
  const TestMatrix x = TestMatrix::normal(4, 64, 0, 3);
  TestMatrix both(4, 100), first(4, 70), second(4, 30);
  const kernels::QuantizedPart parts[] = {{&b, nullptr, 70}, {&a, nullptr, 0}};
  kernels::quantized_gemm(x.view(), parts, both.view());
  const kernels::QuantizedPart only_a{&a, nullptr, 0}, only_b{&b, nullptr, 0};
  kernels::quantized_gemm(x.view(), std::span(&only_a, 1), first.view());
  kernels::quantized_gemm(x.view(), std::span(&only_b, 1), second.view());
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t o = 0; o < 100; ++o) EXPECT_EQ(both(i, o), o < 70 ? first(i, o) : second(i, o - 70));
}

TEST(QuantizedGemm, NoNumberIsLost) {
  for (const DType type : kTypes) {
    const QuantizedMatrix w = StoredTestMatrix(type, 3, 64, 1).packed();
    const kernels::QuantizedPart part{&w, nullptr, 0};
    for (const real odd : {std::numeric_limits<real>::quiet_NaN(), std::numeric_limits<real>::infinity()}) {
      for_each_target([&] {
        TestMatrix x = TestMatrix::normal(3, 64, 0, 2), y(3, 3);
        x(1, 40) = odd;
        for (int64_t j = 0; j < 64; ++j) x(2, j) = 0;
        kernels::quantized_gemm(x.view(), std::span(&part, 1), y.view());
        for (int64_t o = 0; o < 3; ++o) {
          EXPECT_TRUE(std::isfinite(y(0, o)));
          EXPECT_TRUE(std::isnan(y(1, o)));
          EXPECT_EQ(y(2, o), 0);
        }
      });
    }
  }
}

TEST(QuantizedGemm, LargestSumsAreExact) {  // 127·127·1024 per output: beyond 16 bits, and float's 24 bits hold it
  constexpr int64_t inputs = 1024;
  std::vector<int8_t> w(2 * inputs, 127);
  std::fill(w.begin() + inputs, w.end(), int8_t{-127});
  const std::vector<float> scales(2, 1);
  const QuantizedMatrix packed = kernels::pack_quantized(DType::q8, w.data(), scales.data(), 2, inputs);
  const kernels::QuantizedPart part{&packed, nullptr, 0};
  const TestMatrix x(1, inputs, 0, 127);
  for_each_target([&] {
    TestMatrix y(1, 2);
    kernels::quantized_gemm(x.view(), std::span(&part, 1), y.view());
    EXPECT_EQ(y(0, 0), 127 * 127 * inputs);
    EXPECT_EQ(y(0, 1), -127 * 127 * inputs);
  });
}

}  // namespace
}  // namespace limpid
