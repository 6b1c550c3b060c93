#include "models/encoder.h"

namespace limpid {

Encoder::Encoder(const Config& config) : Model(config) {
  const ModelNames& names = names_of(config.model_type);
  embedding_ = {.name = names.embedding + ".weight",
                .shape = {config.vocab, config.width},
                .part = Part::embedding,
                .initial = embedding_initial(config)};
  stack_ = Stack(config, config.encoder, names.encoder, {.scope = ""}, &embedding_);
  transform_ =
      Linear(config.width, {{"cls.predictions.transform.dense", config.width}},
             {.part = Part::output, .bias = config.output_bias, .initial = Initial::normal(config.initializer_range)});
  transform_norm_ =
      Norm("cls.predictions.transform.LayerNorm", config.width, {NormKind::layer, config.norm_eps, config.norm_bias});
  output_ = Output(config.width, config.vocab,
                   {.tied = config.tie_output ? &embedding_ : nullptr,
                    .weight_name = names.output,
                    .bias_name = config.output_bias ? names.output_bias : "",
                    .bias_shape = {config.vocab},
                    .initial = embedding_initial(config)});
}

void Encoder::visit_parameters(const WeightVisitor& visitor) {
  visitor(embedding_);
  stack_.visit(visitor);
  transform_.visit(visitor);
  transform_norm_.visit(visitor);
  output_.visit(visitor);
}

Tensor Encoder::forward(Run& run, const Batch& batch) const {
  Tensor x = scored(run, stack_.forward(run, batch.input), batch);
  x = activation(run, transform_.forward(run, x), config_.activation);
  return transform_norm_.forward(run, x, "head_norm", Sequences({x.rows()}));
}

}  // namespace limpid
