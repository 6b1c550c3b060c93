#include "kernels/cross_entropy.h"

#include <cmath>
#include <limits>

#include "kernels/test_support.h"

namespace limpid {
namespace {

constexpr double kEps = std::numeric_limits<real>::epsilon();
constexpr real kInfinity = std::numeric_limits<real>::infinity();
constexpr real kNan = std::numeric_limits<real>::quiet_NaN();

// With shapes that several ranges of threads share, and rows of several blocks.
std::vector<TestShape> shapes() {
  std::vector<TestShape> all = kTestShapes;
  all.insert(all.end(), {{70, 130, 3}, {2, 5001, 1}, {1, 1024, 0}});
  return all;
}

// The specification is computed in long double, so that it is the better one in the double build too.
struct RowSpecification {
  std::vector<double> p;    // the softmax
  long double log_sum = 0;  // log Σ e^x
};

RowSpecification softmax_of(const TestMatrix& x, int64_t i) {
  long double max = -INFINITY, sum = 0;
  for (int64_t j = 0; j < x.cols(); ++j) max = std::max<long double>(max, x(i, j));
  for (int64_t j = 0; j < x.cols(); ++j) sum += std::exp(x(i, j) - max);
  RowSpecification s{.p = {}, .log_sum = max + std::log(sum)};
  for (int64_t j = 0; j < x.cols(); ++j) s.p.push_back(static_cast<double>(std::exp(x(i, j) - s.log_sum)));
  return s;
}

double loss_of(const TestMatrix& x, int64_t i, int32_t label, long double smoothing) {
  const long double log_sum = softmax_of(x, i).log_sum;
  long double log_p = 0;
  for (int64_t j = 0; j < x.cols() && smoothing > 0; ++j) log_p += x(i, j) - log_sum;
  const long double even = smoothing / static_cast<long double>(x.cols());
  return static_cast<double>(-(1 - smoothing) * (x(i, label) - log_sum) - even * log_p);
}

std::vector<int32_t> draw_labels(const TestMatrix& x, uint64_t key) {
  Random random(key);
  std::vector<int32_t> labels(x.rows());
  for (int32_t& label : labels) label = static_cast<int32_t>(random.below(x.cols()));
  return labels;
}

void expect_specification(const TestMatrix& x, const std::vector<int32_t>& labels, real smoothing, real weight) {
  std::vector<real> losses(x.rows()), same_losses(x.rows());
  TestMatrix dx = x;
  kernels::cross_entropy_forward(x.view(), labels.data(), smoothing, losses.data());
  kernels::cross_entropy_forward_backward(dx.view(), labels.data(), smoothing, weight, same_losses.data());
  EXPECT_EQ(losses, same_losses);
  EXPECT_TRUE(dx.intact());
  for (int64_t i = 0; i < x.rows(); ++i) {
    const double loss = loss_of(x, i, labels[i], smoothing);
    ASSERT_NEAR(losses[i], loss, 6 * kEps * std::max(1.0, loss)) << i << " of " << x.rows() << " × " << x.cols();
    const auto p = softmax_of(x, i).p;
    for (int64_t j = 0; j < x.cols(); ++j) {
      const double target = (j == labels[i] ? 1 - double{smoothing} : 0) + smoothing / static_cast<double>(x.cols());
      const double tolerance = 16 * kEps * weight * (p[j] + target) + std::numeric_limits<real>::min();
      ASSERT_NEAR(dx(i, j), weight * (p[j] - target), tolerance) << i << ", " << j << " of " << x.cols();
    }
  }
}

TEST(CrossEntropy, IsTheSpecification) {
  for (const auto& [rows, cols, gap] : shapes()) {
    if (cols == 0) continue;  // no class to belong to
    const auto x = TestMatrix::normal(rows, cols, gap, 1, 4);
    const auto labels = draw_labels(x, 2);
    for (real smoothing : {real(0), real(0.1)}) {
      for_each_target([&] { expect_specification(x, labels, smoothing, real(0.37)); });
    }
  }
}

// e^x of these is nothing a float or double can hold, and x - max is exact.
TEST(CrossEntropy, TakesLargeLogits) {
  for (real size : {real(100), real(10000)}) {
    TestMatrix x(3, 40, 0, -size);
    x(0, 7) = size;
    x(0, 8) = size - 1;
    x(1, 39) = -size + 1;
    for (int64_t j = 0; j < 40; ++j) x(2, j) = size - static_cast<real>(j);
    for (int32_t label : {0, 7, 39}) {
      for (real smoothing : {real(0), real(0.1)}) expect_specification(x, {label, label, label}, smoothing, 1);
    }
  }
}

TEST(CrossEntropy, FindsTheMaximumAnywhere) {
  for_each_target([] {
    for (int64_t cols : {1, 5, 16, 40, 150}) {
      TestMatrix x(cols, cols, 0, -500);
      for (int64_t i = 0; i < cols; ++i) x(i, i) = 500;
      expect_specification(x, std::vector<int32_t>(cols, 0), 0, 1);
    }
  });
}

TEST(CrossEntropy, GivesLogitsOfMinusInfinityNoProbability) {
  auto x = TestMatrix::normal(1, 50, 0, 1);
  for (int64_t j = 20; j < 45; ++j) x(0, j) = -kInfinity;
  for_each_target([&] {
    expect_specification(x, {3}, 0, 1);
    TestMatrix dx = x;
    real loss;
    const int32_t impossible = 30;
    kernels::cross_entropy_forward_backward(dx.view(), &impossible, 0, 1, &loss);
    EXPECT_EQ(loss, kInfinity);
    EXPECT_EQ(dx(0, 30), -1);
    EXPECT_EQ(dx(0, 31), 0);
  });
}

// Training that has diverged must show.
TEST(CrossEntropy, HandsOnANan) {
  for (int64_t place : {0, 5, 29}) {
    auto x = TestMatrix::normal(1, 30, 0, 1);
    x(0, place) = kNan;
    const int32_t label = 3;
    for (real smoothing : {real(0), real(0.1)}) {
      real loss = 0;
      kernels::cross_entropy_forward(x.view(), &label, smoothing, &loss);
      EXPECT_TRUE(std::isnan(loss)) << place;
    }
  }
}

// Σ e^(x - max) = 1 + 49,999·e^-17: in one float every small term would be rounded away beside the 1. Sums are kept by
// lanes and blocks, so that only the lane of the 1 loses the terms of one block: 512·e^-17/lanes. In double each of
// those additions is rounded by half an ε of the 1: 512/lanes·ε/2, lanes being 4 or more where vectors are wide.
TEST(CrossEntropy, KeepsManySmallTerms) {
  TestMatrix x(1, 50000, 0, -17);
  x(0, 20000) = 0;
  const int32_t label = 20000;
  real loss = 0;
  kernels::cross_entropy_forward(x.view(), &label, 0, &loss);
  EXPECT_NEAR(loss, std::log1p(49999 * std::exp(-17)), sizeof(real) == 4 ? 3e-6 : 512.0 / 4 * kEps / 2);
}

TEST(CrossEntropy, ThreadsDoNotChangeABit) {
  const auto x = TestMatrix::normal(97, 301, 3, 1, 3);
  const auto labels = draw_labels(x, 2);
  TestMatrix first = x;
  std::vector<real> first_losses(x.rows());
  kernels::cross_entropy_forward_backward(first.view(), labels.data(), real(0.1), 1, first_losses.data());
  with_threads([&] {
    TestMatrix dx = x;
    std::vector<real> losses(x.rows());
    kernels::cross_entropy_forward_backward(dx.view(), labels.data(), real(0.1), 1, losses.data());
    EXPECT_EQ(dx, first);
    EXPECT_EQ(losses, first_losses);
  });
}

}  // namespace
}  // namespace limpid
