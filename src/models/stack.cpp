#include "models/stack.h"

#include <cmath>

namespace limpid {
namespace {

// Two schools: the encoder-decoders of translation start by Glorot's rule, GPT and BERT by a small normal distribution,
// GPT with the projections that write to the residual stream scaled down by the number of times it is written to.
struct Initials {
  Initial projection, output;
};

Initials attention_initials(const Config& config, const StackConfig& sizes) {
  if (config.family == Family::seq2seq) {
    const Initial glorot = Initial::glorot(config.width, config.width);
    return {glorot, glorot};
  }
  const double spread = config.initializer_range;
  const double writes =
      config.family == Family::language_model ? std::sqrt(2.0 * static_cast<double>(sizes.layers)) : 1;
  return {Initial::normal(spread), Initial::normal(spread / writes)};
}

AttentionOptions attention_options(const Config& config, const StackConfig& sizes, bool causal, bool cross,
                                   int64_t cache_layer) {
  const Initials initials = attention_initials(config, sizes);
  AttentionOptions options;
  options.width = config.width;
  options.shape = {.heads = sizes.heads, .kv_heads = sizes.kv_heads, .head_size = config.head_size, .causal = causal};
  if (config.scale_scores)
    options.shape.scale = static_cast<real>(1 / std::sqrt(static_cast<double>(config.head_size)));
  options.cross = cross;
  options.bias = config.attention_bias;
  options.layout = config.layout;
  options.dropout = config.dropout.attention;
  options.rope_theta = config.positions == PositionKind::rotary && !cross ? config.rope_theta : 0;
  options.initial = initials.projection;
  options.initial_output = initials.output;
  options.cache_layer = cache_layer;
  return options;
}

FeedForwardOptions feed_forward_options(const Config& config, const StackConfig& sizes) {
  Initials initials = attention_initials(config, sizes);
  if (config.family == Family::seq2seq)
    initials.projection = initials.output = Initial::glorot(config.width, sizes.ffn);
  return {.width = config.width,
          .features = sizes.ffn,
          .activation = config.activation,
          .bias = config.ffn_bias,
          .layout = config.layout,
          .dropout = config.dropout.activation,
          .initial = initials.projection,
          .initial_output = initials.output};
}

BlockOptions block_options(const Config& config, const StackConfig& sizes, const StackSide& side, int64_t index) {
  BlockOptions options;
  options.self = attention_options(config, sizes, side.causal && config.causal, false, 2 * index);
  if (side.cross) options.cross = attention_options(config, sizes, false, true, 2 * index + 1);
  if (config.feed_forward) options.ffn = feed_forward_options(config, sizes);
  options.norm = {config.norm, config.norm_eps, config.norm_bias};
  options.norm_first = config.norm_place == NormPlace::before;
  options.residual = config.residual;
  options.attention_tap = side.scope.empty() ? "attn" : "self_attn";
  options.dropout = config.dropout.residual;
  return options;
}

Positions make_positions(const Config& config, const StackSide& side) {
  switch (config.positions) {
    case PositionKind::sinusoidal:
      return Positions::sinusoidal(config.max_positions, config.width, config.sinusoids == SinusoidLayout::interleaved);
    case PositionKind::learned: {
      const std::string name = fmt::format(fmt::runtime(names_of(config.model_type).positions), side.scope);
      return Positions::learned(name, config.max_positions, config.width, Initial::normal(config.initializer_range));
    }
    case PositionKind::rotary:
    case PositionKind::none: break;
  }
  return {};
}

}  // namespace

Initial embedding_initial(const Config& config) {
  return Initial::normal(config.family == Family::seq2seq ? 1 / std::sqrt(static_cast<double>(config.width))
                                                          : config.initializer_range);
}

Stack::Stack(const Config& config, const StackConfig& sizes, const StackNames& names, const StackSide& side,
             const Weight* table)
    : side_(side) {
  const real factor = config.scale_embedding ? static_cast<real>(std::sqrt(static_cast<double>(config.width))) : 1;
  embedding_ = Embedding(table, factor, config.dropout.embedding);
  embedding_.set_positions(make_positions(config, side));
  const ModelNames& model_names = names_of(config.model_type);
  if (config.token_types > 0)
    embedding_.set_segments({.name = model_names.segments + ".weight",
                             .shape = {config.token_types, config.width},
                             .part = Part::embedding,
                             .initial = embedding_initial(config)});
  const NormOptions norm{config.norm, config.norm_eps, config.norm_bias};
  if (config.embedding_norm) embedding_.set_norm(Norm(model_names.embedding_norm, config.width, norm));
  for (int64_t i = 0; i < sizes.layers; ++i) {
    BlockNames block_names = names.of(i);
    if (!config.gated) block_names.ffn.gate.clear();
    blocks_.emplace_back(fmt::format("{}.{}", side.scope.empty() ? "blocks" : side.scope, i), block_names,
                         block_options(config, sizes, side, i));
  }
  if (config.final_norm) final_norm_ = Norm(names.final_norm, config.width, norm);
}

Tensor Stack::forward(Run& run, const Tokens& tokens, const Tensor& memory, const Sequences& memory_sequences) const {
  // A cache belongs to the stack that generates; an encoder reads its text at once.
  const bool counts_on = run.cache() && side_.causal;
  std::vector<int64_t> before;
  if (counts_on)
    for (int64_t i = 0; i < tokens.sequences.count(); ++i) before.push_back(run.cache()->length(i));
  const Stream stream = Stream::of(tokens.sequences, before);
  Tensor x;
  {
    auto scope = run.scope(side_.scope);
    x = embedding_.forward(run, tokens.ids, stream);
  }
  for (const Block& block : blocks_) x = block.forward(run, std::move(x), stream, memory, memory_sequences);
  if (counts_on)
    for (int64_t i = 0; i < tokens.sequences.count(); ++i) run.cache()->advance(i, tokens.sequences.length(i));
  if (!final_norm_) return x;
  auto scope = run.scope(side_.scope);
  return final_norm_->forward(run, x, "final_norm", tokens.sequences);
}

void Stack::visit(const WeightVisitor& visitor) {
  embedding_.visit(visitor);
  for (Block& block : blocks_) block.visit(visitor);
  if (final_norm_) final_norm_->visit(visitor);
}

}  // namespace limpid
