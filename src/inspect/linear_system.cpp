#include "inspect/linear_system.h"

#include <cmath>

#include "base/error.h"

namespace limpid {

CholeskyFactor::CholeskyFactor(std::vector<double> a, int64_t n) : l_(std::move(a)), n_(n) {
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) {
      double sum = l_[i * n + j];
      for (int64_t k = 0; k < j; ++k) sum -= l_[i * n + k] * l_[j * n + k];
      if (i == j) check(sum > 0, "[solve] the matrix is not positive definite: give it a larger ridge");
      l_[i * n + j] = i == j ? std::sqrt(sum) : sum / l_[j * n + j];
    }
  }
}

std::vector<double> CholeskyFactor::solve(std::vector<double> b) const {
  for (int64_t i = 0; i < n_; ++i) {
    for (int64_t k = 0; k < i; ++k) b[i] -= l_[i * n_ + k] * b[k];
    b[i] /= l_[i * n_ + i];
  }
  for (int64_t i = n_ - 1; i >= 0; --i) {
    for (int64_t k = i + 1; k < n_; ++k) b[i] -= l_[k * n_ + i] * b[k];
    b[i] /= l_[i * n_ + i];
  }
  return b;
}

}  // namespace limpid
