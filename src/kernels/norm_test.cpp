#include "kernels/norm.h"

#include <cmath>
#include <limits>

#include "kernels/test_support.h"

namespace limpid {
namespace {

constexpr double kUnit = std::numeric_limits<real>::epsilon();
constexpr real kEps = real(1e-5);

// A batch, what normalises it and a gradient to send back. The vectors of columns have gaps of zero so that they are
// flat.
struct Batch {
  Batch(int64_t rows_, int64_t cols_, int64_t gap)
      : rows(rows_),
        cols(cols_),
        x(TestMatrix::normal(rows, cols, gap, 1, 2, 3)),
        dy(TestMatrix::normal(rows, cols, 2 * gap, 2)),
        before(TestMatrix::normal(rows, cols, gap, 3)),
        gain(TestMatrix::normal(1, cols, 0, 4, 0.5, 1)),
        bias(TestMatrix::normal(1, cols, 0, 5)) {}
  int64_t rows, cols;
  TestMatrix x, dy, before, gain, bias;
};

// The specification of normalising n numbers, and of its gradient: a row of layer norm, a column of batch norm.
// centered: the mean is taken off; constant: mean and scale do not depend on x.
struct Vector {
  std::vector<double> x, gain, bias, dy;
  double mean = 0, scale = 0;

  void measure(bool centered) {
    const double n = static_cast<double>(x.size());
    double sum = 0, squares = 0;
    for (double v : x) sum += v;
    mean = centered ? sum / n : 0;
    for (double v : x) squares += (v - mean) * (v - mean);
    scale = 1 / std::sqrt(squares / n + static_cast<double>(kEps));
  }
  double normal(size_t j) const { return (x[j] - mean) * scale; }
  double y(size_t j) const { return gain[j] * normal(j) + bias[j]; }
  std::vector<double> dx(bool centered, bool constant = false) const {
    const double n = static_cast<double>(x.size());
    double mean_t = 0, mean_tx = 0;
    for (size_t j = 0; j < x.size(); ++j) {
      mean_t += centered && !constant ? gain[j] * dy[j] / n : 0;
      mean_tx += constant ? 0 : gain[j] * dy[j] * normal(j) / n;
    }
    std::vector<double> result;
    for (size_t j = 0; j < x.size(); ++j) result.push_back(scale * (gain[j] * dy[j] - mean_t - normal(j) * mean_tx));
    return result;
  }
};

Vector row_of(const Batch& b, int64_t i, bool centered) {
  Vector v;
  for (int64_t j = 0; j < b.cols; ++j) {
    v.x.push_back(b.x(i, j));
    v.gain.push_back(b.gain(0, j));
    v.bias.push_back(centered ? b.bias(0, j) : 0);
    v.dy.push_back(b.dy(i, j));
  }
  v.measure(centered);
  return v;
}

Vector column_of(const Batch& b, int64_t j) {
  Vector v;
  for (int64_t i = 0; i < b.rows; ++i) {
    v.x.push_back(b.x(i, j));
    v.gain.push_back(b.gain(0, j));
    v.bias.push_back(b.bias(0, j));
    v.dy.push_back(b.dy(i, j));
  }
  v.measure(true);
  return v;
}

// Calls the kernel of either norm.
struct RowNorm {
  bool centered;
  TestMatrix y, mean, scale;

  RowNorm(bool centered_, const Batch& b, int64_t gap)
      : centered(centered_), y(b.rows, b.cols, gap), mean(1, b.rows), scale(1, b.rows) {
    forward(b, b.x.view(), y.view());
  }
  void forward(const Batch& b, ConstMatrix x, Matrix to) {
    if (centered) {
      kernels::layer_norm_forward(x, b.gain.data(), b.bias.data(), kEps, to, mean.data(), scale.data());
    } else {
      kernels::rms_norm_forward(x, b.gain.data(), kEps, to, scale.data());
    }
  }
  void backward(const Batch& b, Matrix dx, bool accumulate, real* dgain, real* dbias) const {
    if (centered) {
      kernels::layer_norm_backward(b.x.view(), b.gain.data(), mean.data(), scale.data(), b.dy.view(), dx, accumulate,
                                   dgain, dbias);
    } else {
      kernels::rms_norm_backward(b.x.view(), b.gain.data(), scale.data(), b.dy.view(), dx, accumulate, dgain);
    }
  }
};

TEST(Norm, RowsForward) {
  for_each_target([] {
    for (const auto& [rows, cols, gap] : kTestShapes) {
      for (bool centered : {true, false}) {
        const Batch b(rows, cols, gap);
        RowNorm norm(centered, b, gap);
        TestMatrix in_place = b.x;
        norm.forward(b, in_place.view(), in_place.view());
        EXPECT_TRUE(in_place == norm.y);
        EXPECT_TRUE(norm.y.intact());
        for (int64_t i = 0; i < rows && cols > 0; ++i) {
          const Vector v = row_of(b, i, centered);
          // A mean of about 3 is off by a unit or two, and everything else follows in units of what it is made of.
          ASSERT_NEAR(norm.mean(0, i), v.mean, 16 * kUnit);  // RMS norm leaves it at 0
          const double wide = 1 + std::abs(v.scale) * 8;
          ASSERT_NEAR(norm.scale(0, i), v.scale, 4 * kUnit * v.scale * wide);
          for (int64_t j = 0; j < cols; ++j)
            ASSERT_NEAR(norm.y(i, j), v.y(j), 8 * kUnit * wide) << rows << " × " << cols;
        }
      }
    }
  });
}

TEST(Norm, RowsBackward) {
  for_each_target([] {
    for (const auto& [rows, cols, gap] : kTestShapes) {
      for (bool centered : {true, false}) {
        for (bool accumulate : {false, true}) {
          const Batch b(rows, cols, gap);
          const RowNorm norm(centered, b, gap);
          TestMatrix dx = b.before, dgain = b.bias, dbias = b.gain;
          norm.backward(b, dx.view(), accumulate, dgain.data(), dbias.data());
          EXPECT_TRUE(dx.intact());
          std::vector<double> gain_sums(cols), bias_sums(cols);
          for (int64_t i = 0; i < rows && cols > 0; ++i) {
            const Vector v = row_of(b, i, centered);
            const auto expected = v.dx(centered);
            const double tolerance = 16 * kUnit * (1 + v.scale * v.scale * 8);
            for (int64_t j = 0; j < cols; ++j) {
              ASSERT_NEAR(dx(i, j), expected[j] + (accumulate ? b.before(i, j) : 0), tolerance)
                  << rows << " × " << cols;
              gain_sums[j] += v.dy[j] * v.normal(j);
              bias_sums[j] += v.dy[j];
            }
          }
          for (int64_t j = 0; j < cols; ++j) {
            ASSERT_NEAR(dgain(0, j), b.bias(0, j) + gain_sums[j], 64 * kUnit) << rows << " × " << cols;
            ASSERT_NEAR(dbias(0, j), b.gain(0, j) + (centered ? bias_sums[j] : 0), 16 * kUnit);
          }
        }
      }
    }
  });
}

// The two steps, one after the other, are the norm; a row's scale is the reciprocal of the specification's.
TEST(Norm, StepsThatShowTheScale) {
  for_each_target([] {
    for (const auto& [rows, cols, gap] : kTestShapes) {
      for (bool centered : {true, false}) {
        const Batch b(rows, cols, gap);
        const real* const bias = centered ? b.bias.data() : nullptr;
        TestMatrix scale(rows, 1, gap), y(rows, cols, gap), dx = b.before, dscale(rows, 1, gap), dgain = b.bias,
                                                            dbias = b.gain;
        kernels::norm_scale_forward(centered, b.x.view(), kEps, scale.view());
        kernels::normalize_forward(centered, b.x.view(), scale.view(), b.gain.data(), bias, y.view());
        kernels::normalize_backward(centered, b.x.view(), scale.view(), b.gain.data(), b.dy.view(), dx.view(),
                                    dscale.view(), dgain.data(), dbias.data());
        kernels::norm_scale_backward(centered, b.x.view(), scale.view(), dscale.view(), dx.view(), true);
        EXPECT_TRUE(scale.intact() && y.intact() && dx.intact() && dscale.intact());
        std::vector<double> gain_sums(cols), bias_sums(cols);
        for (int64_t i = 0; i < rows && cols > 0; ++i) {
          const Vector v = row_of(b, i, centered);
          const auto expected = v.dx(centered);
          const double wide = 1 + v.scale * 8, tolerance = 32 * kUnit * (1 + v.scale * v.scale * 8);
          ASSERT_NEAR(scale(i, 0), 1 / v.scale, 4 * kUnit * wide / v.scale);
          for (int64_t j = 0; j < cols; ++j) {
            ASSERT_NEAR(y(i, j), v.y(j), 8 * kUnit * wide) << rows << " × " << cols;
            ASSERT_NEAR(dx(i, j), expected[j] + b.before(i, j), tolerance) << rows << " × " << cols;
            gain_sums[j] += v.dy[j] * v.normal(j);
            bias_sums[j] += v.dy[j];
          }
        }
        for (int64_t j = 0; j < cols; ++j) {
          ASSERT_NEAR(dgain(0, j), b.bias(0, j) + gain_sums[j], 64 * kUnit) << rows << " × " << cols;
          ASSERT_NEAR(dbias(0, j), b.gain(0, j) + bias_sums[j], 16 * kUnit);
        }
      }
    }
  });
}

TEST(Norm, GradientsOfGainAndBiasMayBeLeftOut) {
  const Batch b(9, 33, 2);
  const RowNorm norm(true, b, 2);
  TestMatrix dx(9, 33, 2), only_dx(9, 33, 2), dgain(1, 33), dbias(1, 33), alone(1, 33);
  norm.backward(b, dx.view(), false, dgain.data(), dbias.data());
  norm.backward(b, only_dx.view(), false, nullptr, nullptr);
  EXPECT_EQ(only_dx, dx);
  norm.backward(b, only_dx.view(), false, nullptr, alone.data());
  EXPECT_EQ(alone, dbias);
}

TEST(Norm, BiasMayBeLeftOut) {
  Batch b(5, 33, 2);
  b.bias = TestMatrix(1, 33);
  const RowNorm with_zeros(true, b, 2);
  TestMatrix y(5, 33, 2), mean(1, 5), scale(1, 5);
  kernels::layer_norm_forward(b.x.view(), b.gain.data(), nullptr, kEps, y.view(), mean.data(), scale.data());
  EXPECT_EQ(y, with_zeros.y);
}

// A large common offset must not eat the digits: Σx² - mean² would lose all of them.
TEST(Norm, VarianceSurvivesAnOffset) {
  TestMatrix x(1, 64), y(1, 64), ones(1, 64, 0, 1), zeros(1, 64);
  for (int64_t j = 0; j < 64; ++j) x(0, j) = real(j % 2 == 0 ? 10001 : 9999);
  real mean = 0, scale = 0;
  kernels::layer_norm_forward(x.view(), ones.data(), zeros.data(), 0, y.view(), &mean, &scale);
  EXPECT_EQ(mean, 10000);
  EXPECT_EQ(scale, 1);
  EXPECT_EQ(y(0, 0), 1);
}

// A batch of several ranges of rows: 1 and 3 threads, a row alone and among others give the same bits.
TEST(Norm, NeitherThreadsNorTheBatchChangeBits) {
  for (bool centered : {true, false}) {
    const Batch b(131, 700, 0);
    const RowNorm norm(centered, b, 0);
    TestMatrix dx(131, 700), dgain(1, 700), dbias(1, 700);
    norm.backward(b, dx.view(), false, dgain.data(), dbias.data());
    with_threads([&] {
      const RowNorm again(centered, b, 0);
      TestMatrix dx2(131, 700), dgain2(1, 700), dbias2(1, 700);
      again.backward(b, dx2.view(), false, dgain2.data(), dbias2.data());
      EXPECT_TRUE(again.y == norm.y && again.scale == norm.scale && dx2 == dx && dgain2 == dgain && dbias2 == dbias);
    });
    for (int64_t i : {0, 66, 130}) {
      Batch alone(1, 700, 0);
      std::copy_n(&b.x.view()(i, 0), 700, alone.x.data());
      std::copy_n(&b.dy.view()(i, 0), 700, alone.dy.data());
      alone.gain = b.gain;
      alone.bias = b.bias;
      const RowNorm one(centered, alone, 0);
      TestMatrix dx1(1, 700);
      one.backward(alone, dx1.view(), false, nullptr, nullptr);
      EXPECT_TRUE(std::equal(one.y.data(), one.y.data() + 700, &norm.y.view()(i, 0)));
      EXPECT_TRUE(std::equal(dx1.data(), dx1.data() + 700, &dx.view()(i, 0)));
    }
  }
}

TEST(Norm, Columns) {
  for_each_target([] {
    for (const auto& [rows, cols, gap] : kTestShapes) {
      if (rows < 2) continue;  // the variance of one row is zero, and so 1/√(0 + eps) magnifies every rounding
      const Batch b(rows, cols, gap);
      TestMatrix mean(1, cols), variance(1, cols), y(rows, cols, gap);
      kernels::batch_statistics(b.x.view(), mean.data(), variance.data());
      kernels::batch_norm_forward(b.x.view(), b.gain.data(), b.bias.data(), mean.data(), variance.data(), kEps,
                                  y.view());
      for (bool from_batch : {true, false}) {
        TestMatrix dx = b.before, dgain = b.bias, dbias = b.gain;
        kernels::batch_norm_backward(b.x.view(), b.gain.data(), mean.data(), variance.data(), kEps, from_batch,
                                     b.dy.view(), dx.view(), from_batch, dgain.data(), dbias.data());
        EXPECT_TRUE(y.intact() && dx.intact());
        for (int64_t j = 0; j < cols; ++j) {
          const Vector v = column_of(b, j);
          const auto expected = v.dx(true, !from_batch);
          const double wide = 16 * kUnit * (1 + v.scale * v.scale * 8);
          ASSERT_NEAR(mean(0, j), v.mean, 8 * kUnit);
          double gain_sum = b.bias(0, j), bias_sum = b.gain(0, j);
          for (int64_t i = 0; i < rows; ++i) {
            ASSERT_NEAR(y(i, j), v.y(i), wide) << rows << " × " << cols;
            ASSERT_NEAR(dx(i, j), expected[i] + (from_batch ? b.before(i, j) : 0), wide) << rows << " × " << cols;
            gain_sum += v.dy[i] * v.normal(i);
            bias_sum += v.dy[i];
          }
          ASSERT_NEAR(dgain(0, j), gain_sum, wide);
          ASSERT_NEAR(dbias(0, j), bias_sum, wide);
        }
      }
    }
  });
}

}  // namespace
}  // namespace limpid
