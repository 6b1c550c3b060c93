#include "models/encoder.h"

namespace limpid {

Encoder::Encoder(const Config& config) : Model(config) {
  const ModelNames& names = names_of(config);
  embedding_ = {.name = names.embedding + ".weight",
                .shape = {config.vocab, config.width},
                .role = ParameterRole::embedding,
                .initial = embedding_initial(config)};
  stack_ = Stack(config, config.encoder, names.encoder, {.scope = ""}, &embedding_);
  const auto dense = [&](const std::string& name) {
    return Linear(config.width, {{name, config.width}},
                  {.role = ParameterRole::output,
                   .bias = config.head_bias,
                   .initial = Initial::normal(config.initializer_range)});
  };
  switch (config.head) {
    case HeadKind::words:
      transform_ = dense(names.head.dense);
      build_mlm_head();
      break;
    case HeadKind::labels:
      transform_ = dense(names.head.label_dense);
      build_classifying();
      break;
    case HeadKind::pooler: transform_ = dense(names.head.pooler); break;
    case HeadKind::none: break;
  }
}

void Encoder::build_mlm_head() {
  const ModelNames& names = names_of(config_);
  transform_norm_ = Norm(names.head.norm, config_.width, {NormKind::layer, config_.norm_eps, config_.norm_bias});
  output_ = Output(config_.width, config_.vocab,
                   {.tied = config_.tie_output ? &embedding_ : nullptr,
                    .weight_name = names.output,
                    .bias_name = config_.output_bias ? names.output_bias : "",
                    .bias_shape = {config_.vocab},
                    .initial = embedding_initial(config_)});
}

// Hugging Face's classes for classifying sequences.
void Encoder::build_classifying() {
  const auto labels = static_cast<int64_t>(config_.labels.size());
  const std::string& name = names_of(config_).head.label_output;
  output_ = Output(config_.width, labels,
                   {.weight_name = name + ".weight",
                    .bias_name = config_.output_bias ? name + ".bias" : "",
                    .bias_shape = {labels},
                    .initial = Initial::normal(config_.initializer_range)});
}

void Encoder::visit_parameters(const WeightVisitor& visitor) {
  visitor(embedding_);
  stack_.visit(visitor);
  transform_.visit(visitor);
  if (config_.guesses_words()) transform_norm_.visit(visitor);
  output_.visit(visitor);
}

Tensor Encoder::forward(Run& run, const Batch& batch, const TokenChoice& choice) const {
  return head(run, choice.rows_of(run, stack_.forward(run, batch.input)), choice.sequences(batch.input.sequences));
}

Tensor Encoder::finish(Run& run, const Tensor& x, const Sequences& rows) const {
  return head(run, stack_.finish(run, x, rows), rows);
}

Tensor Encoder::head(Run& run, const Tensor& x, const Sequences& rows) const {
  if (config_.classifies()) return dropout_add(run, {}, pool(run, x, rows), config_.dropout.classifier);
  if (!config_.guesses_words()) return x;
  return transform_norm_.forward(run, activation(run, transform_.forward(run, x), config_.head_activation), "head_norm",
                                 rows);
}

Tensor Encoder::pool(Run& run, const Tensor& first, const Sequences& rows) const {
  return run.tap("pooled", activation(run, transform_.forward(run, first), config_.head_activation), {.rows = &rows});
}

}  // namespace limpid
