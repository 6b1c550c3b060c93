#pragma once
// Symmetric positive definite systems: a Cholesky factor, in double.

#include <cstdint>
#include <vector>

namespace limpid {

class CholeskyFactor {
 public:
  // a: (n, n), symmetric. Throws where it is not positive definite.
  CholeskyFactor(std::vector<double> a, int64_t n);
  std::vector<double> solve(std::vector<double> b) const;  // x with a·x = b

 private:
  std::vector<double> l_;  // lower triangle, rows end to end
  int64_t n_;
};

}  // namespace limpid
