#include "models/language_model.h"

namespace limpid {

LanguageModel::LanguageModel(const Config& config) : Model(config) {
  const ModelNames& names = names_of(config.model_type);
  embedding_ = {.name = names.embedding + ".weight",
                .shape = {config.vocab, config.width},
                .part = Part::embedding,
                .initial = embedding_initial(config)};
  stack_ = Stack(config, config.decoder, names.decoder, {.scope = "", .causal = true}, &embedding_);
  output_ = Output(config.width, config.vocab,
                   {.tied = config.tie_output ? &embedding_ : nullptr,
                    .weight_name = names.output,
                    .bias_name = {},
                    .bias_shape = {},
                    .initial = embedding_initial(config)});
}

void LanguageModel::visit_parameters(const WeightVisitor& visitor) {
  visitor(embedding_);
  stack_.visit(visitor);
  output_.visit(visitor);
}

Tensor LanguageModel::forward(Run& run, const Batch& batch) const {
  return scored(run, stack_.forward(run, batch.input), batch);
}

}  // namespace limpid
