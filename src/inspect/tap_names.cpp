#include "inspect/tap_names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "autograd/probe.h"
#include "base/error.h"
#include "base/nearest.h"
#include "inspect/session.h"

namespace limpid {
namespace {

struct HookName {
  std::string_view theirs, ours;
};

// The end of a name. Where one end is the end of another, the longer stands first.
constexpr HookName kHooks[] = {
    {"embed.hook_token_type_embed", "segment_embed"},
    {"embed.ln.hook_normalized", "embed_norm"},
    {"embed.ln.hook_scale", "embed_norm.scale"},
    {"mlm_head.ln.hook_normalized", "head_norm"},
    {"mlm_head.ln.hook_scale", "head_norm.scale"},
    {"encoder_final_ln.hook_normalized", "encoder.final_norm"},
    {"encoder_final_ln.hook_scale", "encoder.final_norm.scale"},
    {"decoder_final_ln.hook_normalized", "decoder.final_norm"},
    {"decoder_final_ln.hook_scale", "decoder.final_norm.scale"},
    {"ln_final.hook_normalized", "final_norm"},
    {"ln_final.hook_scale", "final_norm.scale"},
    {"hook_pos_embed", "pos_embed"},
    {"hook_embed", "embed"},
    {"hook_resid_pre", "resid_pre"},
    {"hook_resid_mid_cross", "resid_mid_cross"},
    {"hook_resid_mid", "resid_mid"},
    {"hook_resid_post", "resid_post"},
    {"ln1_post.hook_normalized", "norm1_post"},
    {"ln1_post.hook_scale", "norm1_post.scale"},
    {"ln2_post.hook_normalized", "norm2_post"},
    {"ln2_post.hook_scale", "norm2_post.scale"},
    {"ln1.hook_normalized", "norm1"},
    {"ln1.hook_scale", "norm1.scale"},
    {"attn.hook_attn_scores", "attn.masked"},
    {"attn.hook_pattern", "attn.pattern"},
    {"attn.hook_rot_q", "attn.rot_q"},
    {"attn.hook_rot_k", "attn.rot_k"},
    {"attn.hook_q", "attn.q"},
    {"attn.hook_k", "attn.k"},
    {"attn.hook_v", "attn.v"},
    {"attn.hook_z", "attn.z"},
    {"hook_cross_attn_out", "cross_attn_out"},
    {"hook_attn_out", "attn_out"},
    {"mlp.hook_post", "ffn.post"},
    {"hook_mlp_out", "ffn_out"},
    {"hook_attn_scores", "masked"},
    {"hook_pattern", "pattern"},
};

std::optional<std::string> with_end(std::string_view name, std::string_view theirs, std::string_view ours) {
  if (!name.ends_with(theirs)) return std::nullopt;
  const std::string_view before = name.substr(0, name.size() - theirs.size());
  const bool whole_word = before.empty() || before.back() == '.' || before.back() == '*' || before.back() == '_';
  if (!whole_word) return std::nullopt;
  return std::string(before) + std::string(ours);
}

// Hooks whose meaning depends on the model: the second norm of a decoder is cross-attention's, a gated network's
// hook_pre is the gate, and what leaves a block of post-norm has been normalised.
std::vector<HookName> hooks_of(const Config& config, bool decoder) {
  const bool cross = config.cross_attention() && decoder;
  std::vector<HookName> hooks = {{"mlp.hook_pre_linear", "ffn.pre"},
                                 {"mlp.hook_pre", config.gated ? "ffn.gate" : "ffn.pre"},
                                 {"ln2.hook_normalized", cross ? "norm_cross" : "norm2"},
                                 {"ln2.hook_scale", cross ? "norm_cross.scale" : "norm2.scale"},
                                 {"ln3.hook_normalized", "norm2"},
                                 {"ln3.hook_scale", "norm2.scale"}};
  constexpr HookName normalized{"hook_normalized_resid_post", "resid_post"};
  const bool post_norm = config.norm_place == NormPlace::after;
  if (post_norm) hooks.push_back(normalized);
  hooks.insert(hooks.end(), std::begin(kHooks), std::end(kHooks));
  if (!post_norm) hooks.push_back(normalized);
  return hooks;
}

// Where a stack of two calls its self-attention self_attn.
std::string with_self(std::string name, const Config& config) {
  if (!config.cross_attention()) return name;
  const size_t at = name.find("attn.");
  // Names without a stack stand for both: "hook_embed" is "*.embed".
  if (name.find('.') == std::string::npos && name.find('*') == std::string::npos) return "*." + name;
  if (name == "final_norm.scale") return "*." + name;
  const bool plain = at != std::string::npos && (at == 0 || name[at - 1] == '.' || name[at - 1] == '*');
  return plain ? name.insert(at, "self_") : name;
}

TapAxis axis_of(int64_t count, int64_t source, int64_t input) {
  return count == source ? TapAxis::source : count == input ? TapAxis::input : TapAxis::text;
}

}  // namespace

std::vector<TapInfo> list_taps(const Model& model) {
  constexpr int64_t kSource = 3, kInput = 2;  // told apart by their numbers
  const Example example = example_of(model.config(), std::vector<int32_t>(kSource, 0), std::vector<int32_t>(kInput, 0));
  struct Seen {
    TapInfo info;
    int64_t rows = 0, keys = 0;
  };
  std::vector<Seen> seen;
  FunctionProbe probe;
  probe.on("*", [&](const Tap& tap) {
    auto at = std::find_if(seen.begin(), seen.end(), [&](const Seen& s) { return s.info.name == tap.name; });
    if (at == seen.end()) {
      seen.push_back({.info = {.name = tap.name, .heads = tap.layout.heads}});
      at = seen.end() - 1;
    }
    if (tap.layout.keys) {
      at->rows += tap.layout.rows->length(0);
      at->keys = tap.layout.keys->length(0);
    } else {
      at->rows += tap.value.rows();
      at->info.cols = tap.value.cols();
    }
  });
  forward_logits(model, example, &probe);
  std::vector<TapInfo> taps;
  for (Seen& tap : seen) {
    tap.info.rows = axis_of(tap.rows, kSource, kInput);
    if (tap.keys > 0) tap.info.keys = axis_of(tap.keys, kSource, kInput);
    taps.push_back(tap.info);
  }
  return taps;
}

int64_t layer_of(const std::string& name) {
  for (size_t at = 0; at < name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    int64_t number = -1;
    const auto [stop, error] = std::from_chars(name.data() + at, name.data() + end, number);
    if (error == std::errc() && stop == name.data() + end) return number;
    at = end + 1;
  }
  return -1;
}

std::string our_tap_name(std::string_view name, const Config& config) {
  if (name.find("hook_") == std::string_view::npos) return std::string(name);
  for (const HookName& hook : hooks_of(config, !name.starts_with("encoder")))
    if (const auto ours = with_end(name, hook.theirs, hook.ours)) return with_self(*ours, config);
  fail("[look] {} is a name of TransformerLens that has no tap here: docs/taps.md lists those that have", name);
}

std::string hook_name(const std::string& tap, const Config& config) {
  std::string plain = tap;  // stacks of two call theirs self_attn, TransformerLens attn
  if (const size_t self = plain.find("self_attn."); self != std::string::npos) plain.erase(self, 5);
  for (const HookName& hook : hooks_of(config, !tap.starts_with("encoder"))) {
    const auto theirs = with_end(plain, hook.ours, hook.theirs);
    if (theirs && our_tap_name(*theirs, config) == tap) return *theirs;
  }
  return tap;
}

std::vector<TapInfo> find_taps(const std::vector<TapInfo>& taps, std::string_view pattern, const Config& config) {
  const std::string ours = our_tap_name(pattern, config);
  std::vector<TapInfo> found;
  std::vector<std::string_view> names;
  for (const TapInfo& tap : taps) {
    names.emplace_back(tap.name);
    if (matches_pattern(ours, tap.name)) found.push_back(tap);
  }
  check(!found.empty(), "[look] the model has no tap {}{}; docs/taps.md lists all", pattern,
        [&] { return did_you_mean(ours, names); });
  return found;
}

}  // namespace limpid
