#pragma once
// Norm: brings every token's vector to a common scale. Layer norm or RMS norm over the features of one token; batch
// norm over the tokens of the batch, kept as the contrast that shows why text wants the former.

#include "autograd/ops.h"

namespace limpid {

struct NormOptions {
  NormKind kind = NormKind::layer;
  real eps = static_cast<real>(1e-5);
  bool bias = true;
  bool gain = true;   // false: it is one
  real offset = 0;    // is added to the gain
  int64_t parts = 1;  // that a row is cut into, each normalised by itself
};

class Norm {
 public:
  Norm() = default;
  Norm(const std::string& name, int64_t width, const NormOptions& options);  // the width of a part

  // Taps its result under `tap`, and the scale it divides by under `tap`.scale (not where rows are cut into parts).
  Tensor forward(Run& run, const Tensor& x, const std::string& tap, const Sequences& rows) const;
  void visit(const WeightVisitor& visitor);

 private:
  Tensor normalize(Run& run, const Tensor& x, const std::string& tap, const Sequences& rows) const;

  NormOptions options_;
  Weight gain_, bias_;
  Weight running_mean_, running_variance_;  // batch norm only
};

}  // namespace limpid
