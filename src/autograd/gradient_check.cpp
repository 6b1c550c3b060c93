#include "autograd/gradient_check.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace limpid {
namespace {

double evaluate(const ScalarFunction& function, Run::Options options) {
  options.tape = nullptr;
  Run run(std::move(options));
  return function(run);
}

double largest(ConstMatrix row) {
  double most = 0;
  for (int64_t i = 0; i < row.cols; ++i) most = std::max(most, std::abs(static_cast<double>(row(0, i))));
  return most;
}

// Spread over the weight, and the one that matters most.
std::vector<int64_t> numbers_to_check(ConstMatrix gradient, int64_t wanted) {
  const int64_t count = std::min(wanted, gradient.cols);
  std::vector<int64_t> chosen;
  for (int64_t k = 0; k < count; ++k) chosen.push_back(k * gradient.cols / count);
  const auto smaller = [](real a, real b) { return std::abs(a) < std::abs(b); };
  chosen.push_back(std::max_element(gradient.data, gradient.data + gradient.cols, smaller) - gradient.data);
  return chosen;
}

}  // namespace

GradientCheckResult check_gradients(Parameters& parameters, const ScalarFunction& function,
                                    const GradientCheckOptions& options) {
  Gradients gradients(parameters);
  const Arena arena;
  Tape tape(arena, &gradients);
  Run::Options recorded = options.run;
  recorded.arena = arena;
  recorded.tape = &tape;
  Run run(recorded);
  function(run);
  tape.backward();
  gradients.finish();

  double most = 0;
  for (const Weight& weight : parameters.weights())
    if (weight.trainable) most = std::max(most, largest(gradients.of(weight)));
  GradientCheckResult result;
  for (const Weight& weight : parameters.weights()) {
    if (!weight.trainable) continue;
    const ConstMatrix gradient = gradients.of(weight);
    const double unit = std::max(largest(gradient), 1e-3 * most);
    for (int64_t i : numbers_to_check(gradient, options.numbers_per_weight)) {
      real& number = parameters.data(weight)[i];
      const real before = number;
      auto at = [&](double steps) {
        number = before + static_cast<real>(steps * options.step);
        const double value = evaluate(function, options.run);
        number = before;
        return value;
      };
      const double slope = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * options.step);
      const double error = std::abs(slope - static_cast<double>(gradient(0, i))) / unit;
      if (!(error <= result.error)) result = {error, fmt::format("{}[{}]", weight.name, i)};
    }
  }
  return result;
}

double weighted_sum(Run& run, const Tensor& y, uint64_t seed) {
  Random random(seed);
  Tensor coefficients(run.arena(), y.rows(), y.cols());
  double sum = 0;
  for (int64_t i = 0; i < y.rows(); ++i) {
    for (int64_t j = 0; j < y.cols(); ++j) {
      const real c = coefficients.values()(i, j) = static_cast<real>(random.normal());
      sum += static_cast<double>(c) * static_cast<double>(y.values()(i, j));
    }
  }
  if (run.tape()) run.tape()->seed(y, std::as_const(coefficients).values());
  return sum;
}

}  // namespace limpid
