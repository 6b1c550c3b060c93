#include "server/inspect_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "inspect/session.h"
#include "inspect/weights.h"

namespace limpid {
namespace {

bool two_sided(const Config& config) { return config.has_source(); }

std::string side_of(const Config& config, const std::string& name) {
  if (!two_sided(config)) return "";
  return name.find("encoder") < name.find("decoder") ? "encoder"
         : name.find("decoder") != std::string::npos ? "decoder"
                                                     : "";
}

bool is_cross(const std::string& name) {
  for (const char* word : {"encoder_attn", "cross", "EncDecAttention"})
    if (name.find(word) != std::string::npos) return true;
  return false;
}

std::string joined(const std::string& stack, int64_t layer, const std::string& name) {
  std::string id = stack;
  if (layer >= 0) id += (id.empty() ? "" : ".") + std::to_string(layer);
  return id.empty() ? name : id + "." + name;
}

// "encoder.rnn.weight_ih_l0_reverse": the layer of a recurrent network's weight stands behind "_l"; the bridge between
// encoder and decoder has none.
std::string recurrent_part(const std::string& stack, const std::string& name) {
  const size_t at = name.rfind("_l");
  if (stack.empty() || at == std::string::npos) return "bridge";
  return joined(stack, std::strtol(name.c_str() + at + 2, nullptr, 10), "cell");
}

// "decoder.1.cross_attn.q": the stack's name, the layer and what stands behind.
struct TapPlace {
  std::string stack, name;
  int64_t layer = -1;
};

TapPlace place_of(const std::string& tap) {
  TapPlace place{.name = tap, .layer = layer_of(tap)};
  for (const char* stack : {"encoder.", "decoder.", "blocks."})
    if (tap.starts_with(stack)) {
      place.stack = tap.substr(0, tap.find('.'));
      place.name = tap.substr(place.stack.size() + 1);
    }
  if (place.layer >= 0) place.name = place.name.substr(place.name.find('.') + 1);
  return place;
}

// The part whose tap this is, and its kind; an empty id: of the stream itself.
std::pair<std::string, std::string> part_of_tap(const TapPlace& place) {
  const std::string& name = place.name;
  const auto is = [&](std::string_view word) { return name == word || name.starts_with(std::string(word) + "."); };
  if (is("embed")) return {"embed", "embedding"};
  if (is("pos_embed")) return {"pos_embed", "position"};
  if (is("segment_embed")) return {"segment_embed", "segment"};
  for (const char* norm :
       {"embed_norm", "norm1", "norm1_post", "norm_cross", "norm2", "norm2_post", "final_norm", "head_norm"})
    if (is(norm)) return {norm, "norm"};
  if (is("self_attn")) return {"self_attn", "self_attention"};
  if (is("cross_attn") || name == "cross_attn_out") return {"cross_attn", "cross_attention"};
  if (is("attn")) return {"attn", "self_attention"};
  if (name == "attn_out") return {place.stack == "blocks" ? "attn" : "self_attn", "self_attention"};
  if (is("ffn") || name == "ffn_out") return {"ffn", "feed_forward"};
  if (is("gates") || is("h") || is("c") || name.starts_with("reverse.")) return {"cell", "recurrent"};
  if (is("align") || is("context")) return {"align", "alignment"};
  if (is("pooled")) return {"pooler", "pooler"};
  if (is("logits")) return {"output", "output"};
  return {"", ""};
}

// The norm whose weight this is, by the names that the model's family has for them. Norms of queries and keys are
// attention's.
std::string norm_of(const Config& config, const std::string& weight, const std::string& side, int64_t layer) {
  const StackNames& names = stack_names(config, side);
  const auto is = [&](const std::string& name) { return !name.empty() && weight.starts_with(name + "."); };
  if (layer < 0)
    return is(names.final_norm) ? "final_norm" : is(names_of(config).head.norm) ? "head_norm" : "embed_norm";
  const BlockNames block = names.of(layer);
  if (is(block.norm_self)) return "norm1";
  if (is(block.norm_self_out)) return "norm1_post";
  if (is(block.norm_ffn)) return "norm2";  // before the next: an encoder of T5 has this one under its name
  if (is(block.norm_cross)) return "norm_cross";
  if (is(block.norm_ffn_out)) return "norm2_post";
  return two_sided(config) ? "self_attn" : "attn";
}

}  // namespace

std::string part_of_weight(const Config& config, const Weight& weight) {
  const std::string side = side_of(config, weight.name);
  const int64_t layer = layer_of(weight.name);
  const std::string stack = two_sided(config) ? side : layer >= 0 ? "blocks" : "";
  switch (weight.role) {
    case ParameterRole::embedding:
      return weight.name.find("token_type") != std::string::npos ? "segment_embed" : joined(stack, -1, "embed");
    case ParameterRole::position: {  // vectors, or what attention adds by distance
      const std::string& bias = stack_names(config, side).relative_bias;
      const bool relative = !bias.empty() && weight.name.starts_with(bias + ".");
      return joined(two_sided(config) ? side : "", -1, relative ? "relative_bias" : "pos_embed");
    }
    case ParameterRole::attention:
      if (config.recurrent()) return "align";
      if (two_sided(config)) return joined(stack, layer, is_cross(weight.name) ? "cross_attn" : "self_attn");
      return joined(stack, layer, "attn");
    case ParameterRole::feed_forward: return joined(stack, layer, "ffn");
    case ParameterRole::recurrent: return recurrent_part(stack, weight.name);
    case ParameterRole::output: return "output";
    case ParameterRole::norm: break;
  }
  return joined(stack, layer, norm_of(config, weight.name, side, layer));
}

std::vector<ModelPart> model_parts(const Model& model) {
  const Config& config = model.config();
  std::vector<ModelPart> parts;
  const auto find = [&](const std::string& id) {
    return std::find_if(parts.begin(), parts.end(), [&](const ModelPart& part) { return part.id == id; });
  };
  for (const TapInfo& tap : list_taps(model)) {
    const TapPlace place = place_of(tap.name);
    const auto [name, kind] = part_of_tap(place);
    if (name.empty()) continue;
    const std::string stack = place.stack == "blocks" && place.layer < 0 ? "" : place.stack;
    const std::string id = joined(stack, place.layer, name);
    if (find(id) == parts.end())
      parts.push_back(
          {.id = id, .kind = kind, .stack = place.stack == "blocks" ? "" : place.stack, .layer = place.layer});
    find(id)->taps.push_back(tap.name);
  }
  std::map<std::string, int64_t> largest;
  std::string embedding;
  model.each_parameter([&](const Weight& weight) {
    std::string id = part_of_weight(config, weight);
    // A table that both sides share is drawn where it is first read.
    if (find(id) == parts.end() && weight.role == ParameterRole::embedding && two_sided(config)) id = "encoder.embed";
    const bool relative = id.ends_with("relative_bias");
    if (find(id) == parts.end() && weight.role == ParameterRole::position && two_sided(config) && !relative)
      id = "encoder.pos_embed";
    if (find(id) == parts.end())  // without a tap: what leads from a recurrent encoder into its decoder
      parts.push_back({.id = id,
                       .kind = id == "bridge" ? "bridge"
                               : relative     ? "relative"
                                              : "other",
                       .stack = id == "bridge" ? "decoder"
                                : relative     ? side_of(config, id)
                                               : "",
                       .layer = relative ? -1 : layer_of(weight.name)});
    ModelPart& part = *find(id);
    part.weights.push_back(weight.name);
    part.parameters += weight.trainable ? weight.size() : 0;
    if (weight.size() > largest[id]) {
      largest[id] = weight.size();
      part.shape = weight.shape;
    }
    if (weight.role == ParameterRole::embedding && embedding.empty()) embedding = weight.name;
    if (weight.role == ParameterRole::embedding && weight.name.find("decoder") != std::string::npos)
      embedding = weight.name;
  });
  const auto output = find("output");
  if (output != parts.end() && config.tie_output && output->shape.size() < 2) output->tied_to = embedding;
  return parts;
}

}  // namespace limpid
