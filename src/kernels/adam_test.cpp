#include "kernels/adam.h"

#include <cmath>
#include <limits>

#include "kernels/test_support.h"

namespace limpid {
namespace {

using kernels::AdamStep;

constexpr double kEps = std::numeric_limits<real>::epsilon();

// One number through torch.optim.Adam or AdamW, in double.
struct Reference {
  double w, m = 0, v = 0;

  void step(const AdamStep& o, double gradient) {
    double g = gradient * o.gradient_scale;
    if (o.decoupled) {
      w *= 1 - o.learning_rate * o.weight_decay;
    } else {
      g += o.weight_decay * w;
    }
    m = o.beta1 * m + (1 - o.beta1) * g;
    v = o.beta2 * v + (1 - o.beta2) * g * g;
    const double m_hat = m / (1 - std::pow(o.beta1, o.step)), v_hat = v / (1 - std::pow(o.beta2, o.step));
    w -= o.learning_rate * m_hat / (std::sqrt(v_hat) + o.eps);
  }
};

void expect_ten_steps(AdamStep options, int64_t count) {
  const auto start = TestMatrix::normal(1, count, 4, 1);
  TestMatrix w = start, m(1, count, 4), v(1, count, 4);
  std::vector<Reference> reference;
  for (int64_t j = 0; j < count; ++j) reference.push_back({.w = start(0, j)});
  for (options.step = 1; options.step <= 10; ++options.step) {
    const auto g = TestMatrix::normal(1, count, 0, 100 + options.step, 0.01, 0.005);
    kernels::adam(options, count, g.data(), w.data(), m.data(), v.data());
    for (int64_t j = 0; j < count; ++j) reference[j].step(options, g(0, j));
  }
  for (int64_t j = 0; j < count; ++j) {
    // Each step rounds w once or twice, and what it subtracts, at most about the learning rate, to a few units.
    const double tolerance = 10 * kEps * (std::abs(start(0, j)) + 5 * options.learning_rate);
    ASSERT_NEAR(w(0, j), reference[j].w, tolerance) << j << " of " << count;
    ASSERT_NEAR(m(0, j), reference[j].m, 4 * kEps * (0.02 + std::abs(reference[j].m))) << j << " of " << count;
    ASSERT_NEAR(v(0, j), reference[j].v, 8 * kEps * reference[j].v) << j << " of " << count;
  }
  EXPECT_TRUE(w.intact() && m.intact() && v.intact());
}

TEST(Adam, TenStepsFollowPyTorch) {
  for_each_target([] {
    for (int64_t count : {0, 1, 5, 16, 33, 1000}) {
      expect_ten_steps({}, count);
      expect_ten_steps({.learning_rate = 0.01, .beta1 = 0.8, .beta2 = 0.98, .eps = 1e-3, .gradient_scale = 0.3}, count);
      expect_ten_steps({.learning_rate = 0.003, .weight_decay = 0.1}, count);
      expect_ten_steps({.learning_rate = 0.003, .weight_decay = 0.1, .decoupled = false}, count);
    }
  });
}

// m/(1-β₁) = g and √(v/(1-β₂)) = |g|: the first step is the learning rate long whatever the gradient.
TEST(Adam, FirstStepIsTheLearningRateLong) {
  TestMatrix g(1, 3), w(1, 3), m(1, 3), v(1, 3);
  g(0, 0) = real(1e-4);
  g(0, 1) = -1000;
  kernels::adam({.learning_rate = 0.25, .eps = 1e-12}, 3, g.data(), w.data(), m.data(), v.data());
  EXPECT_NEAR(w(0, 0), -0.25, 1e-6);
  EXPECT_NEAR(w(0, 1), 0.25, 1e-6);
  EXPECT_EQ(w(0, 2), 0);
}

TEST(Adam, ThreadsDoNotChangeABit) {
  constexpr int64_t kCount = 70001;
  const auto g = TestMatrix::normal(1, kCount, 0, 1);
  const auto run = [&] {
    TestMatrix w(1, kCount, 0, 1), m(1, kCount), v(1, kCount);
    kernels::adam({.weight_decay = 0.1}, kCount, g.data(), w.data(), m.data(), v.data());
    return w;
  };
  const TestMatrix first = run();
  with_threads([&] { EXPECT_EQ(run(), first); });
}

}  // namespace
}  // namespace limpid
