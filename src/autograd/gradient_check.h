#pragma once
// Gradients held against central differences for numbers of every weight: (8·(f(w+h) - f(w-h)) - (f(w+2h) - f(w-2h))) /
// 12h, whose error falls with h⁴. Meant for the f64 build, where both agree to about 1e-9 unless a backward is wrong.

#include <string>

#include "autograd/run.h"

namespace limpid {

// Computes a number from the parameters and, where the run has a tape, seeds its backward pass.
using ScalarFunction = std::function<double(Run&)>;

struct GradientCheckOptions {
  double step = 1e-4;
  int64_t numbers_per_weight = 24;  // checked, spread over the weight, and the one of the largest gradient
  Run::Options run = {};            // train, seed, probe: as the function shall see them
};

struct GradientCheckResult {
  double error =
      0;  // the largest, relative to the largest gradient of its weight or a thousandth of the largest of all
  std::string where;
};

GradientCheckResult check_gradients(Parameters& parameters, const ScalarFunction& function,
                                    const GradientCheckOptions& options = {});

// Σ c·y with fixed pseudo-random c: turns any value into a number to differentiate.
double weighted_sum(Run& run, const Tensor& y, uint64_t seed = 1);

}  // namespace limpid
