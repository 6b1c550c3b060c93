#include "models/encoder.h"

namespace limpid {

Encoder::Encoder(const Config& config) : Model(config) {
  const ModelNames& names = names_of(config.model_type);
  embedding_ = {.name = names.embedding + ".weight",
                .shape = {config.vocab, config.width},
                .part = Part::embedding,
                .initial = embedding_initial(config)};
  stack_ = Stack(config, config.encoder, names.encoder, {.scope = ""}, &embedding_);
  classifies() ? build_classifying() : build_guessing();
}

void Encoder::build_guessing() {
  const ModelNames& names = names_of(config_.model_type);
  transform_ = Linear(
      config_.width, {{"cls.predictions.transform.dense", config_.width}},
      {.part = Part::output, .bias = config_.output_bias, .initial = Initial::normal(config_.initializer_range)});
  transform_norm_ = Norm("cls.predictions.transform.LayerNorm", config_.width,
                         {NormKind::layer, config_.norm_eps, config_.norm_bias});
  output_ = Output(config_.width, config_.vocab,
                   {.tied = config_.tie_output ? &embedding_ : nullptr,
                    .weight_name = names.output,
                    .bias_name = config_.output_bias ? names.output_bias : "",
                    .bias_shape = {config_.vocab},
                    .initial = embedding_initial(config_)});
}

// Hugging Face's BertForSequenceClassification.
void Encoder::build_classifying() {
  const auto labels = static_cast<int64_t>(config_.labels.size());
  transform_ = Linear(
      config_.width, {{"bert.pooler.dense", config_.width}},
      {.part = Part::output, .bias = config_.output_bias, .initial = Initial::normal(config_.initializer_range)});
  output_ = Output(config_.width, labels,
                   {.weight_name = "classifier.weight",
                    .bias_name = config_.output_bias ? "classifier.bias" : "",
                    .bias_shape = {labels},
                    .initial = Initial::normal(config_.initializer_range)});
}

void Encoder::visit_parameters(const WeightVisitor& visitor) {
  visitor(embedding_);
  stack_.visit(visitor);
  transform_.visit(visitor);
  if (!classifies()) transform_norm_.visit(visitor);
  output_.visit(visitor);
}

Tensor Encoder::forward(Run& run, const Batch& batch) const {
  Tensor x = scored(run, stack_.forward(run, batch.input), batch);  // (scored tokens, width)
  if (classifies()) return pooled(run, x, batch);
  x = activation(run, transform_.forward(run, x), config_.activation);
  return transform_norm_.forward(run, x, "head_norm", scored_rows(batch));
}

Tensor Encoder::pooled(Run& run, const Tensor& first, const Batch& batch) const {
  const Sequences rows = scored_rows(batch);
  Tensor x = activation(run, transform_.forward(run, first), Activation::tanh);
  x = run.tap("pooled", x, {.rows = &rows});
  return dropout_add(run, {}, std::move(x), config_.dropout.classifier);
}

}  // namespace limpid
