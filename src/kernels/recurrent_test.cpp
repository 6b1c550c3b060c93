#include "kernels/recurrent.h"

#include <cmath>
#include <functional>
#include <limits>

#include "kernels/test_support.h"

// The specification of each function is its formula for one unit, in double. A backward is compared with differences of
// that formula: what it adds to input k must be the derivative by k of Σ (gradient of output)·output.

namespace limpid {
namespace {

using Values = std::vector<double>;
using Formula = std::function<Values(const Values&)>;

constexpr double kEps = std::numeric_limits<real>::epsilon();
const std::vector<TestShape> kShapes = {{1, 1, 0},   {3, 5, 2}, {2, 16, 0}, {5, 33, 4},
                                        {70, 48, 1}, {0, 4, 0}, {2, 0, 0}};

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

// The numbers of unit j in row i of a matrix that holds `parts` numbers for each unit.
Values unit(const TestMatrix& m, int64_t i, int64_t j, int64_t parts) {
  Values numbers;
  for (int64_t k = 0; k < parts; ++k) numbers.push_back(m(i, k * (m.cols() / parts) + j));
  return numbers;
}

struct Argument {
  const TestMatrix* matrix;
  int64_t parts;
};

Values inputs_of(const std::vector<Argument>& arguments, int64_t i, int64_t j) {
  Values all;
  for (const auto& [matrix, parts] : arguments) {
    const Values one = unit(*matrix, i, j, parts);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

void expect_forward(const Formula& formula, const std::vector<Argument>& inputs, const Argument& output) {
  for (int64_t i = 0; i < output.matrix->rows(); ++i) {
    for (int64_t j = 0; j < output.matrix->cols() / output.parts; ++j) {
      const Values expected = formula(inputs_of(inputs, i, j)), found = unit(*output.matrix, i, j, output.parts);
      for (int64_t k = 0; k < output.parts; ++k) {
        ASSERT_NEAR(found[k], expected[k], 8 * kEps * std::max(1.0, std::abs(expected[k])))
            << i << ", " << j << ", " << k;
      }
    }
  }
  EXPECT_TRUE(output.matrix->intact());
}

// `added` are the gradients of the inputs, each of which held kBefore before; a null one is not checked.
constexpr real kBefore = 0.5;
void expect_backward(const Formula& formula, const std::vector<Argument>& inputs, const Argument& output_gradient,
                     const std::vector<const TestMatrix*>& added) {
  const auto objective = [&](const Values& x, const Values& gradient) {
    const Values y = formula(x);
    double sum = 0;
    for (size_t k = 0; k < y.size(); ++k) sum += gradient[k] * y[k];
    return sum;
  };
  for (int64_t i = 0; i < output_gradient.matrix->rows(); ++i) {
    for (int64_t j = 0; j < output_gradient.matrix->cols() / output_gradient.parts; ++j) {
      const Values gradient = unit(*output_gradient.matrix, i, j, output_gradient.parts);
      Values x = inputs_of(inputs, i, j), found;
      for (size_t a = 0; a < added.size(); ++a) {
        const Values one = unit(*added[a], i, j, inputs[a].parts);
        found.insert(found.end(), one.begin(), one.end());
      }
      for (size_t k = 0; k < found.size(); ++k) {
        constexpr double kStep = 1e-5;  // squared it is the error of the formula, its inverse enlarges that of doubles
        const double here = x[k];
        x[k] = here + kStep;
        const double above = objective(x, gradient);
        x[k] = here - kStep;
        const double below = objective(x, gradient);
        x[k] = here;
        const double expected = kBefore + (above - below) / (2 * kStep);
        ASSERT_NEAR(found[k], expected, 1e-9 + 16 * kEps * std::max(1.0, std::abs(expected)))
            << i << ", " << j << ", " << k;
      }
    }
  }
  for (const TestMatrix* matrix : added) EXPECT_TRUE(matrix->intact());
}

Values gru_gates(const Values& x) {  // gx_r, gx_z, gx_n, gh_r, gh_z, gh_n → r, z, n
  const double r = sigma(x[0] + x[3]);
  return {r, sigma(x[1] + x[4]), std::tanh(x[2] + r * x[5])};
}
Values gru_state(const Values& x) { return {(1 - x[1]) * x[2] + x[1] * x[3]}; }  // r, z, n, h → h'
Values lstm_gates(const Values& x) {                                             // gx, gh of i, f, g, o → i, f, g, o
  return {sigma(x[0] + x[4]), sigma(x[1] + x[5]), std::tanh(x[2] + x[6]), sigma(x[3] + x[7])};
}
Values lstm_cell(const Values& x) { return {x[1] * x[4] + x[0] * x[2]}; }  // i, f, g, o, c → c'
Values lstm_state(const Values& x) { return {x[3] * std::tanh(x[4])}; }    // i, f, g, o, c' → h'

TEST(Gru, IsItsFormulas) {
  for_each_target([] {
    for (const auto& [rows, units, gap] : kShapes) {
      const auto gx = TestMatrix::normal(rows, 3 * units, gap, 1, 2), gh = TestMatrix::normal(rows, 3 * units, 0, 2, 2);
      const auto h = TestMatrix::normal(rows, units, 2 * gap, 3);
      TestMatrix gates(rows, 3 * units, gap), next(rows, units, gap);
      kernels::gru_gates_forward(gx.view(), gh.view(), gates.view());
      kernels::gru_state_forward(gates.view(), h.view(), next.view());
      expect_forward(gru_gates, {{&gx, 3}, {&gh, 3}}, {&gates, 3});
      expect_forward(gru_state, {{&gates, 3}, {&h, 1}}, {&next, 1});

      const auto dgates = TestMatrix::normal(rows, 3 * units, gap, 4), dnext = TestMatrix::normal(rows, units, gap, 5);
      TestMatrix dgx(rows, 3 * units, gap, kBefore), dgh(rows, 3 * units, gap, kBefore);
      TestMatrix dh(rows, units, gap, kBefore), dgates_of_state(rows, 3 * units, gap, kBefore);
      kernels::gru_gates_backward(gates.view(), gh.view(), dgates.view(), dgx.view(), dgh.view());
      kernels::gru_state_backward(gates.view(), h.view(), dnext.view(), dgates_of_state.view(), dh.view());
      expect_backward(gru_gates, {{&gx, 3}, {&gh, 3}}, {&dgates, 3}, {&dgx, &dgh});
      expect_backward(gru_state, {{&gates, 3}, {&h, 1}}, {&dnext, 1}, {&dgates_of_state, &dh});
    }
  });
}

TEST(Lstm, GatesAreTheirFormulas) {
  for_each_target([] {
    for (const auto& [rows, units, gap] : kShapes) {
      const auto gx = TestMatrix::normal(rows, 4 * units, gap, 1, 2), gh = TestMatrix::normal(rows, 4 * units, 0, 2, 2);
      TestMatrix gates(rows, 4 * units, gap);
      kernels::lstm_gates_forward(gx.view(), gh.view(), gates.view());
      expect_forward(lstm_gates, {{&gx, 4}, {&gh, 4}}, {&gates, 4});

      const auto dgates = TestMatrix::normal(rows, 4 * units, 0, 3);
      TestMatrix dgx(rows, 4 * units, gap, kBefore), dgh(rows, 4 * units, gap, kBefore);
      kernels::lstm_gates_backward(gates.view(), dgates.view(), dgx.view(), dgh.view());
      expect_backward(lstm_gates, {{&gx, 4}, {&gh, 4}}, {&dgates, 4}, {&dgx, &dgh});
    }
  });
}

TEST(Lstm, StatesAreTheirFormulas) {
  for_each_target([] {
    for (const auto& [rows, units, gap] : kShapes) {
      const auto gates = TestMatrix::normal(rows, 4 * units, gap, 1), c = TestMatrix::normal(rows, units, 0, 2);
      TestMatrix c_next(rows, units, gap), h_next(rows, units, gap);
      kernels::lstm_cell_forward(gates.view(), c.view(), c_next.view());
      kernels::lstm_state_forward(gates.view(), c_next.view(), h_next.view());
      expect_forward(lstm_cell, {{&gates, 4}, {&c, 1}}, {&c_next, 1});
      expect_forward(lstm_state, {{&gates, 4}, {&c_next, 1}}, {&h_next, 1});

      const auto dnext = TestMatrix::normal(rows, units, gap, 3);
      TestMatrix dgates(rows, 4 * units, gap, kBefore), dc(rows, units, gap, kBefore);
      kernels::lstm_cell_backward(gates.view(), c.view(), dnext.view(), dgates.view(), dc.view());
      expect_backward(lstm_cell, {{&gates, 4}, {&c, 1}}, {&dnext, 1}, {&dgates, &dc});

      TestMatrix dgates_of_state(rows, 4 * units, gap, kBefore), dc_next(rows, units, gap, kBefore);
      kernels::lstm_state_backward(gates.view(), c_next.view(), dnext.view(), dgates_of_state.view(), dc_next.view());
      expect_backward(lstm_state, {{&gates, 4}, {&c_next, 1}}, {&dnext, 1}, {&dgates_of_state, &dc_next});
    }
  });
}

// Gates far from zero are exactly open or shut, and never NaN.
TEST(Lstm, GatesSaturate) {
  TestMatrix gx(1, 8, 0, 2000), gh(1, 8), gates(1, 8);
  for (int64_t j : {1, 3, 5, 7}) gx(0, j) = -2000;
  kernels::lstm_gates_forward(gx.view(), gh.view(), gates.view());
  for (int64_t j = 0; j < 8; ++j) {
    const double low = j / 2 == 2 ? -1 : 0;
    EXPECT_NEAR(gates(0, j), j % 2 == 0 ? 1 : low, 1e-30) << j;
  }
}

}  // namespace
}  // namespace limpid
