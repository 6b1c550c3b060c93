#include "tensor/block_writer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "tensor/block_types.h"
#include "tensor/quantize.h"

namespace limpid {
namespace {

constexpr std::array kTypes = {DType::q4_1, DType::q5_0, DType::q5_1, DType::q2_k,  DType::q3_k,
                               DType::q4_k, DType::q5_k, DType::q6_k, DType::iq4_nl};

std::vector<real> there_and_back(const std::vector<real>& numbers, DType type) {
  const auto cols = static_cast<int64_t>(numbers.size());
  std::vector<std::byte> bytes(static_cast<size_t>(bytes_of(type, cols)), std::byte{0xff});
  quantize_row(numbers.data(), cols, type, bytes.data(), nullptr, "[test]");
  std::vector<real> back(numbers.size());
  dequantize_row(type, bytes.data(), 0, cols, back.data());
  return back;
}

double squares(const std::vector<real>& a, const std::vector<real>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return sum;
}

std::vector<real> normal(size_t count, uint64_t key, double scale) {
  Random random(key);
  std::vector<real> numbers(count);
  for (real& x : numbers) x = static_cast<real>(scale * random.normal());
  return numbers;
}

TEST(BlockWriter, ErrorsFallWithTheBits) {
  // Of a normal distribution: an optimal quantiser of n levels with a scale for 32 numbers comes to about these shares
  // of the square; without a search for the least error they are a fifth higher.
  const std::map<DType, double> most = {{DType::q2_k, 0.085},  {DType::q3_k, 0.031},   {DType::q4_1, 0.0068},
                                        {DType::q4_k, 0.0071}, {DType::q5_0, 0.0021},  {DType::q5_1, 0.0016},
                                        {DType::q5_k, 0.0018}, {DType::q6_k, 0.00045}, {DType::iq4_nl, 0.0058}};
  for (const DType type : kTypes)
    for (const double scale : {1.0, 0.02, 300.0}) {
      const std::vector<real> x = normal(256 * 64, 1, scale), zero(x.size(), 0);
      const double share = squares(x, there_and_back(x, type)) / squares(x, zero);
      EXPECT_LT(share, most.at(type)) << name_of(type) << " " << scale;
      EXPECT_GT(share, most.at(type) / 3) << name_of(type) << " " << scale;
    }
}

TEST(BlockWriter, LevelsComeBack) {
  std::vector<real> x;
  for (int i = 0; i < 512; ++i) x.push_back(static_cast<real>(kFourBitLevels[static_cast<size_t>(7 * i % 16)] * 0.25));
  EXPECT_EQ(there_and_back(x, DType::iq4_nl), x);
  const std::vector<real> zeros(64, 0);
  EXPECT_EQ(there_and_back(zeros, DType::iq4_nl), zeros);
}

// What lies on the grid of a type comes back as it was.
TEST(BlockWriter, NumbersThatFitComeBack) {
  for (const DType type : kTypes) {
    if (type == DType::iq4_nl) continue;  // its grid is uneven: below
    const bool affine = block_type(type)->affine;
    const int levels = type == DType::q2_k           ? 4
                       : type == DType::q3_k         ? 8
                       : type == DType::q6_k         ? 64
                       : block_type(type)->bits == 5 ? 32
                                                     : 16;
    std::vector<real> x;
    for (int i = 0; i < 512; ++i) {
      const int q = (7 * i) % levels - levels / 2;
      x.push_back(static_cast<real>(affine ? q * 0.25 : q * -0.125));
    }
    const std::vector<real> back = there_and_back(x, type);
    // Scales of 11 bits on numbers up to 4: off by up to 4·2⁻¹¹ and as much for the minimum. Q6_K keeps the scales of
    // its groups, none of which is below half the largest here, in steps of a 127th of the largest: off by half a step.
    const double allowed = type == DType::q6_k ? 4 * (1.0 / 127 + 1.0 / 2048) : 4e-3;
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(back[i], x[i], allowed) << name_of(type) << " " << i;
    const std::vector<real> zeros(256, 0);
    EXPECT_EQ(there_and_back(zeros, type), zeros) << name_of(type);
  }
}

TEST(BlockWriter, OneLargeNumberSpoilsItsOwnGroupAlone) {
  for (const DType type : {DType::q2_k, DType::q3_k, DType::q4_k, DType::q5_k, DType::q6_k}) {
    std::vector<real> x = normal(256, 3, 0.01);
    x[5] = 1;
    const std::vector<real> back = there_and_back(x, type);
    EXPECT_NEAR(back[5], 1, 0.1) << name_of(type);
    double rest = 0, all = 0;
    for (size_t i = 32; i < 256; ++i) {
      rest += std::pow(static_cast<double>(x[i]) - static_cast<double>(back[i]), 2);
      all += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    EXPECT_LE(rest, all) << name_of(type);
  }
}

TEST(BlockWriter, OnlyWholeBlocksAreTaken) {
  EXPECT_THROW(there_and_back(normal(96, 1, 1), DType::q4_k), std::exception);
  EXPECT_NO_THROW(there_and_back(normal(96, 1, 1), DType::q5_0));
}

}  // namespace
}  // namespace limpid
