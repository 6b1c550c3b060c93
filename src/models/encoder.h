#pragma once
// Encoder: a stack of blocks in which every token sees all others (BERT's shape). It ends in the head that guesses
// masked tokens, or in the one that classifies a text by its first token, or in vectors: those of the tokens, and where
// it has a pooler one of the text.

#include "models/model.h"
#include "models/stack.h"

namespace limpid {

class Encoder : public Model {
 public:
  explicit Encoder(const Config& config);

  void visit_parameters(const WeightVisitor& visitor) override;
  // Without an output layer: the vectors of the chosen tokens.
  Tensor forward(Run& run, const Batch& batch, const TokenChoice& choice) const override;
  Tensor finish(Run& run, const Tensor& x, const Sequences& rows) const override;

  Tensor encode(Run& run, const Tokens& tokens) const {
    return stack_.forward(run, tokens);
  }  // hidden vectors of every token
  // The pooler on vectors of first tokens, one for each text.
  Tensor pool(Run& run, const Tensor& first, const Sequences& rows) const;

 private:
  void build_mlm_head();
  void build_classifying();
  Tensor head(Run& run, const Tensor& x, const Sequences& rows) const;

  Weight embedding_;
  Stack stack_;
  Linear transform_;     // of the masked-token head: dense, activation, norm; of the others: dense, activation
  Norm transform_norm_;  // of the masked-token head
};

}  // namespace limpid
