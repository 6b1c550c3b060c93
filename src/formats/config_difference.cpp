#include "formats/config_difference.h"

#include <cmath>

namespace limpid {
namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b)); }

bool same_rotation(const RopeConfig& a, const RopeConfig& b, int64_t head_size, int64_t length) {
  const auto one = Rope(a, head_size).rotation(length), other = Rope(b, head_size).rotation(length);
  if (one->frequencies.size() != other->frequencies.size()) return false;
  for (size_t i = 0; i < one->frequencies.size(); ++i)
    if (!near(one->frequencies[i], other->frequencies[i])) return false;
  return near(a.attention_factor, b.attention_factor) && a.interleaved == b.interleaved;
}

bool same_rope(const RopeConfig& a, const RopeConfig& b, int64_t head_size, int64_t positions) {
  if ((a.theta > 0) != (b.theta > 0)) return false;
  if (!(a.theta > 0)) return true;
  if (a.scaling == RopeScaling::dynamic || b.scaling == RopeScaling::dynamic) return false;
  return same_rotation(a, b, head_size, 1) && same_rotation(a, b, head_size, positions);
}

bool same_stack(const StackConfig& a, const StackConfig& b) {
  return a.layers == b.layers && a.heads == b.heads && a.kv_heads == b.kv_heads && a.ffn == b.ffn;
}

bool same_layers(const Config& a, const Config& b) {
  for (int64_t i = 0; i < a.stack().layers; ++i)
    if (a.layer(i).window != b.layer(i).window || a.layer(i).rope != b.layer(i).rope) return false;
  return true;
}

double score_scale(const Config& config) {
  if (config.attention_scale > 0) return config.attention_scale;
  return config.scale_scores ? 1 / std::sqrt(static_cast<double>(config.head_size)) : 1;
}

bool has_local(const Config& config) {
  for (const LayerConfig& layer : config.layers)
    if (layer.rope == LayerConfig::Rope::local) return true;
  return false;
}

}  // namespace

std::string config_difference(const Config& a, const Config& b) {
  const bool turns = a.positions == PositionKind::rotary;
  const struct {
    const char* what;
    bool same;
  } parts[] = {
      {"what kind of model it is", a.family == b.family},
      {"its sizes", a.vocab == b.vocab && a.width == b.width && a.head_size == b.head_size &&
                        a.embed_width == b.embed_width && same_stack(a.encoder, b.encoder) &&
                        same_stack(a.decoder, b.decoder) && a.token_types == b.token_types},
      {"its context", a.max_positions == b.max_positions && a.position_offset == b.position_offset},
      {"its norms", a.norm == b.norm && a.norm_place == b.norm_place && near(a.norm_eps, b.norm_eps) &&
                        a.norm_bias == b.norm_bias && a.norm_gain == b.norm_gain && a.norm_offset == b.norm_offset &&
                        a.embedding_norm == b.embedding_norm && a.first_norm == b.first_norm &&
                        a.final_norm == b.final_norm && a.qk_norm == b.qk_norm},
      {"its parallel blocks", a.parallel == b.parallel && (!a.parallel || a.parallel_one_norm == b.parallel_one_norm)},
      {"its positions", a.positions == b.positions &&
                            (a.positions != PositionKind::sinusoidal || a.sinusoids == b.sinusoids) &&
                            a.relative == b.relative && a.relative_buckets == b.relative_buckets &&
                            a.relative_distance == b.relative_distance && a.slopes_scaled == b.slopes_scaled},
      {"its rotary positions",
       !turns || (a.positions == b.positions && same_rope(a.rope, b.rope, a.head_size, a.max_positions) &&
                  has_local(a) == has_local(b) &&
                  (!has_local(a) || same_rope(a.local_rope, b.local_rope, a.head_size, a.max_positions)))},
      {"its windows", same_layers(a, b)},
      {"its activation", a.activation == b.activation && a.gated == b.gated && a.feed_forward == b.feed_forward},
      {"the scale of its scores", near(score_scale(a), score_scale(b)) && a.scale_by_layer == b.scale_by_layer &&
                                      a.attention_cap == b.attention_cap && a.clip_qkv == b.clip_qkv},
      {"its biases", a.attention_bias == b.attention_bias && a.attention_output_bias == b.attention_output_bias &&
                         a.ffn_bias == b.ffn_bias && a.output_bias == b.output_bias},
      {"its experts", a.experts.count == b.experts.count},
      {"its factors", a.scale_embedding == b.scale_embedding && near(a.embedding_factor, b.embedding_factor) &&
                          near(a.residual_factor, b.residual_factor) && near(a.logit_factor, b.logit_factor) &&
                          a.logit_cap == b.logit_cap},
      {"its embeddings", a.tie_output == b.tie_output && a.share_source_embedding == b.share_source_embedding},
      {"its residual connections and its mask", a.residual == b.residual && a.causal == b.causal},
  };
  for (const auto& part : parts)
    if (!part.same) return part.what;
  return {};
}

}  // namespace limpid
