#include "inference/step_cost.h"

#include <algorithm>
#include <numeric>

namespace limpid {

StepCost::Parts StepCost::parts(const StepWork& work) const {
  return {costs_[kStep], costs_[kWritten] * static_cast<double>(work.written),
          costs_[kPrompt] * static_cast<double>(work.prompt), costs_[kKeys] * static_cast<double>(work.keys)};
}

double StepCost::seconds(const StepWork& work) const {
  const Parts seconds = parts(work);
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

// c_i ← c_i (1 + r e s_i / Σ s_j²), where s_i is the share of part i in the time expected and e the relative error: the
// largest parts are corrected most, none becomes negative, and of the error the share r is gone for such a step.
void StepCost::learn(const StepWork& work, double seconds) {
  constexpr double kRate = 0.3;
  constexpr double kMostError = 0.5;  // upwards: a step that waited for something else of the machine's tells little
  constexpr double kMostCaution = 3, kKeptCaution = 0.7;
  const Parts expected = parts(work);
  const double sum = std::accumulate(expected.begin(), expected.end(), 0.0);
  if (!(seconds > 0)) return;
  if (!known_) {
    for (double& cost : costs_) cost *= seconds / sum;
    known_ = true;
    return;
  }
  caution_ = std::max(1 + kKeptCaution * (caution_ - 1), std::min(seconds / sum, kMostCaution));
  const double error = std::min(seconds / sum - 1, kMostError);  // never below -1: costs stay positive
  double squares = 0;
  for (const double part : expected) squares += part / sum * part / sum;
  for (size_t i = 0; i < kParts; ++i) costs_[i] *= 1 + kRate * error * (expected[i] / sum) / squares;
}

StepCost StepCost::times(double factor) const {
  StepCost result = *this;
  for (double& cost : result.costs_) cost *= factor;
  return result;
}

}  // namespace limpid
