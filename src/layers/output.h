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

 private:
  const Weight* tied_ = nullptr;
  Weight weight_, bias_;
};

}  // namespace limpid
