#pragma once
// LanguageModel: a decoder alone. Predicts the next token from the last vector of the tokens so far. GPT-2's shape,
// Llama's shape, and what lies between and around them.

#include "models/model.h"
#include "models/stack.h"

namespace limpid {

class LanguageModel : public Model {
 public:
  explicit LanguageModel(const Config& config);

  void visit_parameters(const WeightVisitor& visitor) override;
  Tensor forward(Run& run, const Batch& batch, const TokenChoice& choice) const override;
  Tensor finish(Run& run, const Tensor& x, const Sequences& rows) const override { return stack_.finish(run, x, rows); }

 private:
  Weight embedding_;
  Stack stack_;
};

}  // namespace limpid
