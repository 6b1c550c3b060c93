#include "kernels/activation.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/test_support.h"

namespace limpid {
namespace {

constexpr Activation kAll[] = {Activation::none, Activation::relu,       Activation::gelu, Activation::gelu_tanh,
                               Activation::silu, Activation::quick_gelu, Activation::tanh};

// The specification: f and its slope f'. Wider than double, so that it is exact in the build for double too.
using Wide = long double;
Wide wide_value(Activation f, Wide x) {
  switch (f) {
    case Activation::none: return x;
    case Activation::relu: return x > 0 ? x : 0;
    case Activation::gelu: return x * std::erfc(-x / std::numbers::sqrt2_v<Wide>) / 2;
    case Activation::gelu_tanh:
      return x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi_v<Wide>) * (x + 0.044715L * x * x * x))) / 2;
    case Activation::silu: return x / (1 + std::exp(-x));
    case Activation::quick_gelu: return x / (1 + std::exp(-1.702L * x));
    case Activation::tanh: return std::tanh(x);
  }
  return 0;
}
Wide wide_slope(Activation f, Wide x) {
  const Wide root = std::sqrt(2 / std::numbers::pi_v<Wide>);
  switch (f) {
    case Activation::none: return 1;
    case Activation::relu: return x > 0;
    case Activation::gelu: return std::erfc(-x / std::numbers::sqrt2_v<Wide>) / 2 + x * std::exp(-x * x / 2) * root / 2;
    case Activation::gelu_tanh: {
      const Wide t = std::tanh(root * (x + 0.044715L * x * x * x));
      return (1 + t) / 2 + x * (1 - t * t) / 2 * root * (1 + 3 * 0.044715L * x * x);
    }
    case Activation::silu: {
      const Wide s = 1 / (1 + std::exp(-x));
      return s * (1 + x * (1 - s));
    }
    case Activation::quick_gelu: {
      const Wide s = 1 / (1 + std::exp(-1.702L * x));
      return s * (1 + 1.702L * x * (1 - s));
    }
    case Activation::tanh: return 1 - std::tanh(x) * std::tanh(x);
  }
  return 0;
}

double value(Activation f, double x) { return static_cast<double>(wide_value(f, x)); }
double slope(Activation f, double x) { return static_cast<double>(wide_slope(f, x)); }

constexpr double kUnit = std::numeric_limits<real>::epsilon();  // 1.2e-7 in float
bool saves_output(Activation f) { return f == Activation::relu || f == Activation::tanh; }

TEST(Activation, SlopeOfTheSpecificationIsItsDerivative) {
  for (Activation f : kAll) {
    for (double x = -6.05; x < 6; x += 0.1) {
      EXPECT_NEAR(slope(f, x), (value(f, x + 1e-5) - value(f, x - 1e-5)) / 2e-5, 1e-9) << int(f) << " at " << x;
    }
  }
}

// Numbers of all sizes, dense where the functions bend.
TestMatrix sweep() {
  constexpr int kDense = 6001;
  const real far[] = {real(1e-20), real(-1e-20), 20, -20, 80, -80, 300, -300};
  TestMatrix x(1, kDense + 8);
  for (int i = 0; i < kDense; ++i) x(0, i) = static_cast<real>((i - kDense / 2) / 250.0);
  for (int i = 0; i < 8; ++i) x(0, kDense + i) = far[i];
  return x;
}

TEST(Activation, ValuesAreExact) {
  const TestMatrix x = sweep();
  for (Activation f : kAll) {
    for_each_target([&] {
      TestMatrix y(1, x.cols());
      kernels::activation_forward(f, {}, x.view(), y.view());
      double worst = 0;
      for (int64_t j = 0; j < x.cols(); ++j) {
        const double error = std::abs(y(0, j) - value(f, x(0, j)));
        worst = std::max(worst, x(0, j) == 0 ? error : error / std::abs(x(0, j)));
      }
      EXPECT_LT(worst, 1.4 * kUnit) << int(f);
    });
  }
}

TEST(Activation, SlopesAreExact) {
  const TestMatrix x = sweep();
  const TestMatrix dy(1, x.cols(), 0, 1);
  for (Activation f : kAll) {
    for_each_target([&] {
      TestMatrix saved = x, dx(1, x.cols());
      if (saves_output(f)) kernels::activation_forward(f, {}, x.view(), saved.view());
      kernels::activation_backward(f, {}, saved.view(), dy.view(), dx.view(), false);
      double worst = 0;
      for (int64_t j = 0; j < x.cols(); ++j) worst = std::max(worst, std::abs(dx(0, j) - slope(f, x(0, j))));
      EXPECT_LT(worst, 2.6 * kUnit) << int(f);
    });
  }
}

TEST(Activation, HandsOnWhatIsNotANumber) {
  for_each_target([] {
    for (Activation f : kAll) {
      TestMatrix x(1, 40, 0, std::numeric_limits<real>::quiet_NaN()), y(1, 40);
      kernels::activation_forward(f, {}, x.view(), y.view());
      EXPECT_EQ(std::count_if(y.data(), y.data() + 40, [](real v) { return std::isnan(v); }), 40) << int(f);
    }
  });
}

struct Case {
  Activation f;
  Dropout dropout;
  bool accumulate;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (Activation f : kAll) {
    for (float rate : {0.f, 0.4f}) {
      for (bool accumulate : {false, true}) {
        if (rate == 0 || f != Activation::tanh) all.push_back({f, {rate, 17}, accumulate});
      }
    }
  }
  return all;
}

double drop(const Dropout& dropout, int64_t index, double v) {
  return dropout_keeps(dropout, index) ? v * dropout_scale(dropout.rate) : 0;
}

TEST(Activation, ForwardAndBackwardOfAllShapes) {
  for_each_target([] {
    for (const auto& [rows, cols, gap] : kTestShapes) {
      for (const auto& [f, dropout, accumulate] : cases()) {
        const auto x = TestMatrix::normal(rows, cols, gap, 1), dy = TestMatrix::normal(rows, cols, 2 * gap, 2);
        const auto before = TestMatrix::normal(rows, cols, gap, 3);
        TestMatrix y(rows, cols, gap), in_place = x, dx = before;
        kernels::activation_forward(f, dropout, x.view(), y.view());
        kernels::activation_forward(f, dropout, in_place.view(), in_place.view());
        kernels::activation_backward(f, dropout, saves_output(f) ? y.view() : x.view(), dy.view(), dx.view(),
                                     accumulate);
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < cols; ++j) {
            const double expected = drop(dropout, i * cols + j, value(f, x(i, j)));
            const double gradient = slope(f, x(i, j)) * drop(dropout, i * cols + j, dy(i, j));
            ASSERT_NEAR(y(i, j), expected, 4 * kUnit * std::abs(x(i, j))) << int(f) << " at " << i << ", " << j;
            ASSERT_NEAR(dx(i, j), gradient + (accumulate ? before(i, j) : 0), 6 * kUnit * (1 + std::abs(dy(i, j))));
          }
        }
        EXPECT_EQ(in_place, y);
        EXPECT_TRUE(y.intact() && dx.intact());
      }
    }
  });
}

TEST(Activation, GradientMayTakeThePlaceOfTheOneItComesFrom) {
  const auto x = TestMatrix::normal(5, 33, 2, 1), dy = TestMatrix::normal(5, 33, 2, 2);
  TestMatrix dx(5, 33, 2), in_place = dy;
  kernels::activation_backward(Activation::gelu, {0.1f, 5}, x.view(), dy.view(), dx.view(), false);
  kernels::activation_backward(Activation::gelu, {0.1f, 5}, x.view(), in_place.view(), in_place.view(), false);
  EXPECT_EQ(in_place, dx);
}

TEST(Activation, GatedForwardAndBackwardOfAllShapes) {
  for_each_target([] {
    for (const auto& [rows, cols, gap] : kTestShapes) {
      for (const auto& [f, dropout, accumulate] : cases()) {
        const auto gate = TestMatrix::normal(rows, cols, gap, 1), up = TestMatrix::normal(rows, cols, gap, 2);
        const auto dy = TestMatrix::normal(rows, cols, 2 * gap, 3), before = TestMatrix::normal(rows, cols, gap, 4);
        TestMatrix y(rows, cols, gap), dgate = before, dup = before;
        kernels::gated_activation_forward(f, dropout, gate.view(), up.view(), y.view());
        kernels::gated_activation_backward(f, dropout, gate.view(), up.view(), dy.view(), dgate.view(), accumulate,
                                           dup.view(), !accumulate);
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < cols; ++j) {
            const double g = gate(i, j), u = up(i, j), dropped = drop(dropout, i * cols + j, dy(i, j));
            const double tolerance = 6 * kUnit * (1 + std::abs(g)) * (1 + std::abs(u)) * (1 + std::abs(dy(i, j)));
            ASSERT_NEAR(y(i, j), drop(dropout, i * cols + j, value(f, g) * u), tolerance) << int(f);
            ASSERT_NEAR(dgate(i, j), slope(f, g) * u * dropped + (accumulate ? before(i, j) : 0), tolerance) << int(f);
            ASSERT_NEAR(dup(i, j), value(f, g) * dropped + (accumulate ? 0 : before(i, j)), tolerance) << int(f);
          }
        }
        EXPECT_TRUE(y.intact() && dgate.intact() && dup.intact());
      }
    }
  });
}

// A batch large enough to be cut into several ranges, with and without gaps between its rows.
TEST(Activation, NeitherThreadsNorTheBatchChangeBits) {
  for (int64_t gap : {0, 3}) {
    const auto x = TestMatrix::normal(300, 130, gap, 1);
    TestMatrix rows(300, 130, gap);
    for (int64_t i = 0; i < 300; ++i) {
      kernels::activation_forward(Activation::silu, {}, x.view().rows_from(i, 1), rows.view().rows_from(i, 1));
    }
    with_threads([&] {
      TestMatrix y(300, 130, gap);
      kernels::activation_forward(Activation::silu, {}, x.view(), y.view());
      EXPECT_EQ(y, rows);
    });
  }
}

}  // namespace
}  // namespace limpid
