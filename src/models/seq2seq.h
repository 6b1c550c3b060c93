#pragma once
// Seq2Seq: the Transformer of "Attention Is All You Need". An encoder reads the source, a decoder writes the target
// looking at the encoder's output. Post-norm (as in the paper, Marian and BART) or pre-norm (as in Pegasus and T5).

#include "models/model.h"
#include "models/stack.h"

namespace limpid {

class Seq2Seq : public Model {
 public:
  explicit Seq2Seq(const Config& config);

  void visit_parameters(const WeightVisitor& visitor) override;
  Tensor forward(Run& run, const Batch& batch, const TokenChoice& choice) const override;
  Tensor finish(Run& run, const Tensor& x, const Sequences& rows) const override {
    return decoder_.finish(run, x, rows);
  }

  Tensor encode(Run& run, const Tokens& source) const;  // the memory: (source tokens, width)
  Tensor decode(Run& run, const Tokens& input, const Tensor& memory, const Sequences& source) const;

 private:
  Weight shared_embedding_, source_embedding_, target_embedding_;
  Stack encoder_, decoder_;
};

}  // namespace limpid
