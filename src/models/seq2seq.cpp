#include "models/seq2seq.h"

namespace limpid {

Seq2Seq::Seq2Seq(const Config& config) : Model(config) {
  const ModelNames& names = names_of(config);
  auto table = [&](const std::string& name) {
    return Weight{.name = name + ".weight",
                  .shape = {config.vocab, config.width},
                  .role = ParameterRole::embedding,
                  .initial = embedding_initial(config)};
  };
  shared_embedding_ = table(names.embedding);
  source_embedding_ = table(names.source_embedding);
  target_embedding_ = table(names.target_embedding);
  const bool shared = config.share_source_embedding;
  const Weight* source = shared ? &shared_embedding_ : &source_embedding_;
  const Weight* target = shared ? &shared_embedding_ : &target_embedding_;
  encoder_ = Stack(config, config.encoder, names.encoder, {.scope = "encoder"}, source);
  decoder_ = Stack(config, config.decoder, names.decoder, {.scope = "decoder", .causal = true, .cross = true}, target);
  output_ = Output(config.width, config.vocab,
                   {.tied = config.tie_output ? target : nullptr,
                    .weight_name = names.output,
                    .bias_name = config.output_bias ? names.output_bias : "",
                    .bias_shape = {1, config.vocab},
                    .factor = config.logit_factor,
                    .cap = config.logit_cap,
                    .initial = embedding_initial(config)});
}

void Seq2Seq::visit_parameters(const WeightVisitor& visitor) {
  if (config_.share_source_embedding) {
    visitor(shared_embedding_);
  } else {
    visitor(source_embedding_);
    visitor(target_embedding_);
  }
  encoder_.visit(visitor);
  decoder_.visit(visitor);
  output_.visit(visitor);
}

Tensor Seq2Seq::encode(Run& run, const Tokens& source) const { return encoder_.forward(run, source); }

Tensor Seq2Seq::decode(Run& run, const Tokens& input, const Tensor& memory, const Sequences& source) const {
  return decoder_.forward(run, input, memory, source);
}

Tensor Seq2Seq::forward(Run& run, const Batch& batch, const TokenChoice& choice) const {
  const Tensor memory = encode(run, batch.source);
  return choice.rows_of(run, decode(run, batch.input, memory, batch.source.sequences));
}

}  // namespace limpid
