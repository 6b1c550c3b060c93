#pragma once
// Encoder: a stack of blocks in which every token sees all others (BERT's shape), with the head that guesses masked
// tokens, or, where the config has labels, the one that classifies a text by its first token.

#include "models/model.h"
#include "models/stack.h"

namespace limpid {

class Encoder : public Model {
 public:
  explicit Encoder(const Config& config);

  void visit_parameters(const WeightVisitor& visitor) override;
  Tensor forward(Run& run, const Batch& batch) const override;

  Tensor encode(Run& run, const Tokens& tokens) const {
    return stack_.forward(run, tokens);
  }  // hidden vectors of every token

 private:
  bool classifies() const { return !config_.labels.empty(); }
  void build_guessing();
  void build_classifying();
  Tensor pooled(Run& run, const Tensor& first, const Batch& batch) const;

  Weight embedding_;
  Stack stack_;
  Linear transform_;     // of the masked-token head: dense, activation, norm; of the classifier: dense, tanh
  Norm transform_norm_;  // of the masked-token head
};

}  // namespace limpid
