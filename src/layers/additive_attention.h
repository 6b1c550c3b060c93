#pragma once
// Additive attention (Bahdanau et al. 2015): the decoder's last state asks, every encoder state answers, and their
// weighted sum is the context of the next step: e_ij = v·tanh(W·s_i + U·h_j), α = softmax of e, context = Σ α·h.

#include "layers/linear.h"

namespace limpid {

class AdditiveAttention {
 public:
  AdditiveAttention() = default;
  AdditiveAttention(const std::string& prefix, int64_t hidden, int64_t memory_width);

  Tensor keys(Run& run, const Tensor& memory) const { return key_.forward(run, memory); }  // U·h_j, once per source
  // One query per sequence; taps align and context.
  Tensor context(Run& run, const Tensor& state, const Tensor& keys, const Tensor& memory,
                 const Sequences& memory_sequences, const TapLayout& layout) const;
  void visit(const WeightVisitor& visitor);

 private:
  Linear query_, key_;
  Weight v_;
};

}  // namespace limpid
