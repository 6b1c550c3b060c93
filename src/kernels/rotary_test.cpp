#include "kernels/rotary.h"

#include <cmath>
#include <limits>

#include "kernels/test_support.h"

namespace limpid {
namespace {

constexpr double kEps = std::numeric_limits<real>::epsilon();

struct Case {
  int64_t tokens, heads, head_size, gap;
};
const std::vector<Case> kCases = {{1, 1, 2, 0},   {3, 2, 6, 0},  {5, 3, 8, 4},    {4, 1, 30, 1},
                                  {7, 4, 64, 16}, {6, 2, 70, 0}, {70, 2, 128, 0}, {0, 2, 4, 0}};

// Each position twice, from the first to the last that long contexts know, and one before the first.
std::vector<int32_t> positions_of(int64_t tokens) {
  const std::vector<int32_t> some = {0, 1, 7, 100, 2047, 131071, -3};
  std::vector<int32_t> positions(tokens);
  for (int64_t t = 0; t < tokens; ++t) positions[t] = some[t / 2 % some.size()];
  return positions;
}

Rotation rotation(int64_t head_size, double theta) {
  Rotation result{{}, head_size};
  for (int64_t i = 0; i < head_size / 2; ++i)
    result.frequencies.push_back(std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(head_size)));
  return result;
}

void expect_specification(const Case& c, real theta, bool inverse) {
  const int64_t cols = c.heads * c.head_size, half = c.head_size / 2;
  const auto x = TestMatrix::normal(c.tokens, cols, c.gap, 1), before = TestMatrix::normal(c.tokens, cols, 0, 2);
  const auto positions = positions_of(c.tokens);
  TestMatrix y(c.tokens, cols, 2 * c.gap), sum = before, in_place = x;
  kernels::rotary(x.view(), positions.data(), rotation(c.head_size, theta), inverse, y.view(), false);
  kernels::rotary(x.view(), positions.data(), rotation(c.head_size, theta), inverse, sum.view(), true);
  kernels::rotary(in_place.view(), positions.data(), rotation(c.head_size, theta), inverse, in_place.view(), false);
  for (int64_t t = 0; t < c.tokens; ++t) {
    for (int64_t j = 0; j < cols; ++j) {
      const int64_t i = j % c.head_size % half;
      const bool first = j % c.head_size < half;
      const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(c.head_size);
      const double angle = (inverse ? -1 : 1) * positions[t] * std::pow(double{theta}, exponent);
      const double partner = first ? -x(t, j + half) : x(t, j - half);
      const double expected = x(t, j) * std::cos(angle) + partner * std::sin(angle);
      const double size = std::abs(x(t, j)) + std::abs(partner);
      const double tolerance = (2 * kEps + 1e-15 * std::abs(positions[t])) * size;  // the angle is rounded as a double
      ASSERT_NEAR(y(t, j), expected, tolerance) << t << ", " << j << " of head size " << c.head_size;
      ASSERT_NEAR(sum(t, j), before(t, j) + expected, tolerance + kEps * std::abs(before(t, j))) << t << ", " << j;
      ASSERT_EQ(in_place(t, j), y(t, j)) << t << ", " << j;
    }
  }
  EXPECT_TRUE(y.intact() && in_place.intact());
}

TEST(Rotary, IsTheSpecification) {
  for_each_target([] {
    for (const Case& c : kCases) {
      expect_specification(c, 10000, false);
      expect_specification(c, 500000, true);
    }
  });
}

TEST(Rotary, InverseTurnsBack) {
  const auto x = TestMatrix::normal(16, 96, 0, 1);
  const auto positions = positions_of(16);
  TestMatrix y(16, 96);
  kernels::rotary(x.view(), positions.data(), rotation(32, 10000), false, y.view(), false);
  kernels::rotary(y.view(), positions.data(), rotation(32, 10000), true, y.view(), false);
  for (int64_t t = 0; t < 16; ++t) {
    for (int64_t j = 0; j < 96; ++j) EXPECT_NEAR(y(t, j), x(t, j), 20 * kEps);
  }
}

// What rotary positions are for: the product of a query and a key depends on how far apart they stand, not on where.
TEST(Rotary, ProductsDependOnTheDistanceAlone) {
  const auto x = TestMatrix::normal(2, 64, 0, 1);
  const auto product = [&](int32_t query, int32_t key) {
    const int32_t positions[] = {query, key};
    TestMatrix y(2, 64);
    kernels::rotary(x.view(), positions, rotation(64, 10000), false, y.view(), false);
    double sum = 0;
    for (int64_t j = 0; j < 64; ++j) sum += double{y(0, j)} * y(1, j);
    return sum;
  };
  // Angles are computed in double: one of 1005 radians is rounded to about 1005·ε, which shows where values are double.
  EXPECT_NEAR(product(1005, 1000), product(5, 0), (sizeof(real) == 4 ? 200 : 1005) * kEps);
  EXPECT_GT(std::abs(product(6, 0) - product(5, 0)), 0.1);
}

TEST(Rotary, ThreadsDoNotChangeABit) {
  const auto x = TestMatrix::normal(301, 128, 3, 1);
  const auto positions = positions_of(301);
  TestMatrix first(301, 128);
  kernels::rotary(x.view(), positions.data(), rotation(64, 10000), false, first.view(), false);
  with_threads([&] {
    TestMatrix y(301, 128);
    kernels::rotary(x.view(), positions.data(), rotation(64, 10000), false, y.view(), false);
    EXPECT_EQ(y, first);
  });
}

TEST(Rotary, APartOfAHeadIsTurnedAndScaled) {
  const auto x = TestMatrix::normal(5, 24, 2, 1);  // two heads of 12, of which 8 numbers are turned
  const auto positions = positions_of(5);
  Rotation part = rotation(8, 100);
  part.head_size = 12;
  part.factor = real(1.5);
  TestMatrix y(5, 24, 1), before = TestMatrix::normal(5, 24, 0, 2), sum = before;
  kernels::rotary(x.view(), positions.data(), part, false, y.view(), false);
  kernels::rotary(x.view(), positions.data(), part, false, sum.view(), true);
  for (int64_t t = 0; t < 5; ++t)
    for (int64_t j = 0; j < 24; ++j) {
      const int64_t i = j % 12;
      double expected = x(t, j);
      if (i < 8) {
        const double angle = positions[t] * part.frequencies[i % 4];
        const double partner = i < 4 ? -x(t, j + 4) : x(t, j - 4);
        expected = 1.5 * (x(t, j) * std::cos(angle) + partner * std::sin(angle));
      }
      EXPECT_NEAR(y(t, j), expected, 20 * kEps);
      EXPECT_NEAR(sum(t, j), before(t, j) + expected, 20 * kEps);
    }
  EXPECT_TRUE(y.intact());
}

}  // namespace
}  // namespace limpid
