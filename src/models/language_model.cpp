#include "models/language_model.h"

namespace limpid {

LanguageModel::LanguageModel(const Config& config) : Model(config) {
  const ModelNames& names = names_of(config);
  embedding_ = {.name = names.embedding + ".weight",
                .shape = {config.vocab, config.embed_width > 0 ? config.embed_width : config.width},
                .role = ParameterRole::embedding,
                .initial = embedding_initial(config)};
  stack_ = Stack(config, config.decoder, names.decoder, {.scope = "", .causal = true}, &embedding_);
  output_ = Output(embedding_.shape[1], config.vocab,
                   {.tied = config.tie_output ? &embedding_ : nullptr,
                    .weight_name = names.output,
                    .bias_name = config.output_bias ? names.output_bias : "",
                    .bias_shape = {config.vocab},
                    .factor = config.logit_factor,
                    .cap = config.logit_cap,
                    .initial = embedding_initial(config)});
}

void LanguageModel::visit_parameters(const WeightVisitor& visitor) {
  visitor(embedding_);
  stack_.visit(visitor);
  output_.visit(visitor);
}

Tensor LanguageModel::forward(Run& run, const Batch& batch, const TokenChoice& choice) const {
  return choice.rows_of(run, stack_.forward(run, batch.input));
}

}  // namespace limpid
