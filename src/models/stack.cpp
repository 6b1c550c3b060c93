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
  if (config.cross_attention()) {
    const Initial glorot = Initial::glorot(config.width, config.width);
    return {glorot, glorot};
  }
  const double spread = config.initializer_range;
  const double writes = config.continues_text() ? std::sqrt(2.0 * static_cast<double>(sizes.layers)) : 1;
  return {Initial::normal(spread), Initial::normal(spread / writes)};
}

double attention_scale(const Config& config, const StackConfig& sizes, int64_t layer) {
  double scale = config.attention_scale;
  if (scale == 0) scale = config.scale_scores ? 1 / std::sqrt(static_cast<double>(config.head_size_of(sizes))) : 1;
  return config.scale_by_layer ? scale / static_cast<double>(layer + 1) : scale;
}

std::optional<RopeConfig> rope_of(const Config& config, int64_t layer) {
  if (config.positions != PositionKind::rotary) return {};
  switch (config.layer(layer).rope) {
    case LayerConfig::Rope::usual: return config.rope;
    case LayerConfig::Rope::local: return config.local_rope;
    case LayerConfig::Rope::none: break;
  }
  return {};
}

AttentionOptions attention_options(const Config& config, const StackConfig& sizes, bool causal, bool cross,
                                   int64_t layer) {
  const Initials initials = attention_initials(config, sizes);
  AttentionOptions options;
  options.width = config.width;
  options.shape = {.heads = sizes.heads,
                   .kv_heads = sizes.kv_heads,
                   .head_size = config.head_size_of(sizes),
                   .scale = static_cast<real>(attention_scale(config, sizes, layer)),
                   .causal = causal,
                   .window = cross ? 0 : config.layer(layer).window,
                   .softcap = config.attention_cap};
  options.cross = cross;
  options.bias = config.attention_bias;
  options.output_bias = config.attention_output_bias;
  if (config.qk_norm != QueryKeyNorm::none) options.qk_norm = config.norm_options();
  options.norm_heads = config.qk_norm == QueryKeyNorm::each_head;
  options.clip = config.clip_qkv;
  options.fused_by_heads = config.fused_layout == FusedLayout::heads;
  options.layout = config.layout;
  options.dropout = config.dropout.attention;
  if (!cross) options.rope = rope_of(config, layer);
  options.initial = initials.projection;
  options.initial_output = initials.output;
  options.cache_layer = 2 * layer + (cross ? 1 : 0);
  return options;
}

FeedForwardOptions feed_forward_options(const Config& config, const StackConfig& sizes) {
  Initials initials = attention_initials(config, sizes);
  if (config.cross_attention()) initials.projection = initials.output = Initial::glorot(config.width, sizes.ffn);
  return {.width = config.width,
          .features = sizes.ffn,
          .activation = config.activation,
          .bias = config.ffn_bias,
          .layout = config.layout,
          .dropout = config.dropout.activation,
          .initial = initials.projection,
          .initial_output = initials.output};
}

ExpertsOptions experts_options(const Config& config, const StackConfig& sizes) {
  ExpertsOptions options{.count = config.experts.count,
                         .chosen = config.experts.chosen,
                         .normalize = config.experts.normalize,
                         .each = feed_forward_options(config, sizes),
                         .shared = feed_forward_options(config, sizes)};
  options.each.features = config.experts.features;
  options.shared.features = config.experts.shared;
  return options;
}

BlockOptions block_options(const Config& config, const StackConfig& sizes, const StackSide& side, int64_t index) {
  BlockOptions options;
  options.self = attention_options(config, sizes, side.causal && config.causal, false, index);
  if (side.cross) options.cross = attention_options(config, sizes, false, true, index);
  if (config.experts.count > 0)
    options.experts = experts_options(config, sizes);
  else if (config.feed_forward)
    options.ffn = feed_forward_options(config, sizes);
  options.norm = config.norm_options();
  options.norm_before = config.norm_place == NormPlace::before || config.norm_place == NormPlace::both;
  options.norm_after = config.norm_place == NormPlace::after;
  options.norm_output = config.norm_place == NormPlace::output || config.norm_place == NormPlace::both;
  options.norm_of_self = config.first_norm || index > 0;
  options.parallel = config.parallel;
  options.one_norm = config.parallel_one_norm;
  options.residual = config.residual;
  options.residual_factor = config.residual_factor;
  options.attention_tap = side.scope.empty() ? "attn" : "self_attn";
  options.dropout = config.dropout.residual;
  return options;
}

Positions make_positions(const Config& config, const StackSide& side) {
  switch (config.positions) {
    case PositionKind::sinusoidal:
      return Positions::sinusoidal(config.max_positions, config.position_offset, config.width, config.sinusoids);
    case PositionKind::learned: {
      const std::string name = fmt::format(fmt::runtime(names_of(config).positions), side.scope);
      return Positions::learned(name, config.max_positions, config.position_offset, config.width,
                                Initial::normal(config.initializer_range));
    }
    case PositionKind::rotary:
    case PositionKind::none: break;
  }
  return {};
}

RelativeBias make_relative(const Config& config, const StackConfig& sizes, const StackNames& names,
                           const StackSide& side) {
  switch (config.relative) {
    case RelativeKind::none: break;
    case RelativeKind::buckets:
      return RelativeBias::buckets(names.relative_bias, sizes.heads,
                                   {config.relative_buckets, config.relative_distance, !side.causal},
                                   Initial::normal(config.initializer_range));
    case RelativeKind::slopes: {
      std::vector<real> slopes = alibi_slopes(sizes.heads);
      for (real& slope : slopes)
        if (config.slopes_scaled) slope *= static_cast<real>(attention_scale(config, sizes, 0));
      return RelativeBias::slopes(std::move(slopes));
    }
  }
  return {};
}

}  // namespace

Initial embedding_initial(const Config& config) {
  return Initial::normal(config.cross_attention() ? 1 / std::sqrt(static_cast<double>(config.width))
                                                  : config.initializer_range);
}

Stack::Stack(const Config& config, const StackConfig& sizes, const StackNames& names, const StackSide& side,
             const Weight* table)
    : side_(side) {
  const real factor = config.scale_embedding ? static_cast<real>(std::sqrt(static_cast<double>(config.width))) : 1;
  const ModelNames& model_names = names_of(config);
  embedding_ = Embedding(table, factor * config.embedding_factor, config.dropout.embedding);
  embedding_.set_positions(make_positions(config, side));
  if (config.embed_width > 0) {
    const LinearOptions plain{ParameterRole::embedding, false, WeightLayout::out_in,
                              Initial::normal(config.initializer_range)};
    embedding_.set_projection(Linear(config.embed_width, {{model_names.project_in, config.width}}, plain));
    project_out_ = Linear(config.width, {{model_names.project_out, config.embed_width}}, plain);
  }
  relative_ = make_relative(config, sizes, names, side);
  if (config.token_types > 0)
    embedding_.set_segments({.name = model_names.segments + ".weight",
                             .shape = {config.token_types, config.width},
                             .role = ParameterRole::embedding,
                             .initial = embedding_initial(config)});
  const NormOptions norm = config.norm_options();
  if (config.embedding_norm)
    embedding_.set_norm(Norm(fmt::format(fmt::runtime(model_names.embedding_norm), side.scope), config.width, norm));
  for (int64_t i = 0; i < sizes.layers; ++i) {
    BlockNames block_names = names.of(i);
    if (!config.gated) block_names.ffn.gate.clear();
    if (!config.fused_gate) block_names.ffn.gate_up.clear();
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
  TokenLayout layout = TokenLayout::of(tokens.sequences, before);
  relative_.add_to(run, layout, before);
  Tensor x;
  {
    auto scope = run.scope(side_.scope);
    x = embedding_.forward(run, tokens.ids, layout);
  }
  for (const Block& block : blocks_) x = block.forward(run, std::move(x), layout, memory, memory_sequences);
  if (counts_on)
    for (int64_t i = 0; i < tokens.sequences.count(); ++i) run.cache()->advance(i, tokens.sequences.length(i));
  return finish(run, x, tokens.sequences);
}

Tensor Stack::finish(Run& run, Tensor x, const Sequences& rows) const {
  auto scope = run.scope(side_.scope);
  if (final_norm_) x = final_norm_->forward(run, x, "final_norm", rows);
  if (project_out_) x = run.tap("embed_out", project_out_->forward(run, x), {&rows});
  return x;
}

void Stack::visit(const WeightVisitor& visitor) {
  embedding_.visit(visitor);
  relative_.visit(visitor);
  for (Block& block : blocks_) block.visit(visitor);
  if (final_norm_) final_norm_->visit(visitor);
  if (project_out_) project_out_->visit(visitor);
}

}  // namespace limpid
