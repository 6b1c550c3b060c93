#pragma once
// The position-wise feed-forward network ("Attention Is All You Need", equation 2): up-projection, activation,
// down-projection, the same at every position. Rows of the up-projection ask questions of a token's vector; where the
// answer is yes, a column of the down-projection is added to it. Gated variants (Shazeer 2020) multiply by a second
// projection.

#include "layers/linear.h"

namespace limpid {

struct FeedForwardNames {
  std::string up, gate, down;  // no gate: an empty name
  std::string gate_up = {};    // gate and up-projection as one matrix, the gate first
};

struct FeedForwardOptions {
  int64_t width = 0;     // of the residual stream
  int64_t features = 0;  // d_ff
  Activation activation = Activation::relu;
  bool bias = true;
  WeightLayout layout = WeightLayout::out_in;
  double dropout = 0;  // on the activations
  Initial initial, initial_output;
};

class FeedForward {
 public:
  FeedForward() = default;
  FeedForward(const FeedForwardNames& names, const FeedForwardOptions& options);

  // Taps its values where x has a row for each of these tokens; null: some of them, and nothing is tapped.
  Tensor forward(Run& run, const Tensor& x, const Sequences* tokens) const;
  void visit(const WeightVisitor& visitor);

 private:
  FeedForwardOptions options_;
  bool gated_ = false;
  Linear up_;  // gated: gate and up
  Linear down_;
};

}  // namespace limpid
