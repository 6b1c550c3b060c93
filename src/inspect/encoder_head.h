#pragma once
// The head of an encoder as mathematics on one vector: dense, activation, norm (of the classifier: dense, tanh). Held
// at the values it has for one vector it is linear: the activation is multiplication by f(x)/x.

#include "inspect/weights.h"

namespace limpid {

class EncoderHead {
 public:
  EncoderHead(const Config& config, const WeightTable& weights);

  // For a direction w in the head's output: the direction in its input x that gives the same product; what the head's
  // biases add goes to `constant`.
  std::vector<double> backward(const std::vector<double>& w, const std::vector<double>& x, double& constant) const;

  // The head applied to rows of vectors: what the output layer reads.
  Tensor apply(Run& run, const Tensor& x) const;

 private:
  const Config& config_;
  const WeightTable& weights_;
  bool classifies_;
  std::string dense_, norm_;
  Activation activation_;
};

}  // namespace limpid
