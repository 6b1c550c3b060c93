#pragma once
// Output: the unembedding. Turns a token's last vector into a score for every word of the vocabulary, and into a loss
// where the right word is known. Tied models use the embedding itself as its matrix.

#include "autograd/ops.h"

namespace limpid {

struct OutputOptions {
  const Weight* tied = nullptr;  // the embedding that serves as matrix; null: a matrix of its own
  std::string weight_name;       // of its own matrix
  std::string bias_name;         // empty: no bias
  std::vector<int64_t> bias_shape;
  real factor = 1;  // on logits, before the bias
  real cap = 0;     // logits are cap·tanh(logits/cap); 0: as they are
  Initial initial;
};

class Output {
 public:
  Output() = default;
  Output(int64_t width, int64_t vocab, const OutputOptions& options);

  Tensor logits(Run& run, const Tensor& x, const Sequences& rows) const;  // (tokens, vocab)
  // Goes through the logits a few rows at a time, unless somebody looks at them.
  Loss loss(Run& run, const Tensor& x, const Sequences& rows, std::span<const int32_t> labels,
            const LossOptions& options) const;
  void visit(const WeightVisitor& visitor);

  const Weight& weight() const { return tied_ ? *tied_ : weight_; }
  const Weight* bias() const { return bias_.name.empty() ? nullptr : &bias_; }
  bool none() const { return !tied_ && weight_.name.empty(); }
  real factor() const { return factor_; }
  real cap() const { return cap_; }

 private:
  const Weight* tied_ = nullptr;
  Weight weight_, bias_;
  real factor_ = 1, cap_ = 0;
};

}  // namespace limpid
