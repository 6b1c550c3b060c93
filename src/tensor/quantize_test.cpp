#include "tensor/quantize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace limpid {
namespace {

std::vector<real> normal(int64_t count, uint64_t key, double scale = 1) {
  Random random(key);
  std::vector<real> numbers(count);
  for (real& x : numbers) x = static_cast<real>(scale * random.normal());
  return numbers;
}

std::vector<real> there_and_back(const std::vector<real>& numbers, DType type) {
  const auto cols = static_cast<int64_t>(numbers.size());
  std::vector<std::byte> bytes(bytes_of(type, cols));
  float factor = 0;
  quantize_row(numbers.data(), cols, type, bytes.data(), &factor, "[test]");
  std::vector<real> back(numbers.size());
  dequantize_row(type, bytes.data(), factor, cols, back.data());
  return back;
}

double largest(const std::vector<real>& x, size_t begin, size_t count) {
  double most = 0;
  for (size_t i = begin; i < begin + count; ++i) most = std::max<double>(most, std::abs(x[i]));
  return most;
}

TEST(Quantize, EightBitsAreWithinHalfAStep) {
  const std::vector<real> x = normal(320, 1, 3);
  const std::vector<real> blocks = there_and_back(x, DType::q8_0), rows = there_and_back(x, DType::q8);
  for (size_t i = 0; i < x.size(); ++i) {
    const double step = largest(x, i / 32 * 32, 32) / 127;
    // the factor has 11 bits: 127 steps are off by up to 127·2⁻¹² of one
    EXPECT_LE(std::abs(x[i] - blocks[i]), step * (0.5 + 127 * 0x1p-12) * 1.001) << i;
    EXPECT_LE(std::abs(x[i] - rows[i]), largest(x, 0, x.size()) / 127 * 0.5 * 1.0001) << i;
  }
}

TEST(Quantize, FourBitsAreNoWorseThanTheLargestAtMinusEight) {
  for (uint64_t key = 0; key < 50; ++key) {
    const std::vector<real> x = normal(32, key), back = there_and_back(x, DType::q4_0);
    double found = 0, plain = 0;
    real most = 0;
    for (const real number : x)
      if (std::abs(number) > std::abs(most)) most = number;
    const float factor = from_f16(to_f16(static_cast<float>(most) / -8));
    for (size_t i = 0; i < x.size(); ++i) {
      const double q = std::clamp(std::nearbyint(static_cast<double>(x[i]) / static_cast<double>(factor)), -8.0, 7.0);
      found += std::pow(static_cast<double>(x[i]) - static_cast<double>(back[i]), 2);
      plain += std::pow(static_cast<double>(x[i]) - static_cast<double>(factor) * q, 2);
    }
    EXPECT_LE(found, plain * 1.0001) << key;
  }
}

TEST(Quantize, NumbersThatFitComeBack) {
  std::vector<real> eight, four;
  for (int i = 0; i < 32; ++i) {
    eight.push_back(static_cast<real>(0.25 * (i == 0 ? 127 : i - 16)));
    four.push_back(static_cast<real>(0.5 * (i % 16 - 8)));
  }
  EXPECT_EQ(there_and_back(eight, DType::q8_0), eight);
  EXPECT_EQ(there_and_back(eight, DType::q8), eight);
  EXPECT_EQ(there_and_back(four, DType::q4_0), four);
  const std::vector<real> zeros(64, 0);
  for (const DType type : {DType::q8_0, DType::q4_0, DType::q8})
    EXPECT_EQ(there_and_back(zeros, type), zeros) << name_of(type);
}

TEST(Quantize, WhatCannotBeStoredIsRefused) {
  EXPECT_THROW(there_and_back(normal(33, 1), DType::q8_0), Error);
  EXPECT_NO_THROW(there_and_back(normal(33, 1), DType::q8));
  std::vector<real> x = normal(32, 1);
  x[3] = std::numeric_limits<real>::infinity();
  EXPECT_THROW(there_and_back(x, DType::q8), Error);
}

TEST(Quantize, RowsOfAWeightAreRead) {
  const std::vector<real> x = normal(3 * 32, 5);
  std::vector<std::byte> bytes(bytes_of(DType::q4_0, 96));
  for (int64_t i = 0; i < 3; ++i)
    quantize_row(x.data() + 32 * i, 32, DType::q4_0, bytes.data() + 18 * i, nullptr, "[test]");
  Weight weight{.name = "w", .shape = {3, 32}};
  weight.point_to(DType::q4_0, bytes.data());
  std::vector<real> all(96), last(32);
  read_numbers(weight, all.data());
  read_rows(weight, 2, 1, last.data());
  EXPECT_EQ(std::vector<real>(all.begin() + 64, all.end()), last);
  EXPECT_THROW(weight.numbers(), Error);
}

}  // namespace
}  // namespace limpid
