// Language models made like Llama: RMS or layer norm, rotary positions, grouped keys, mostly gated.

#include <cmath>

#include "base/error.h"
#include "models/config_family.h"

namespace limpid {
namespace {

struct LlamaClass {
  bool tied = false;
  TokenDefaults tokens = {.pad = {}, .bos = 1, .eos = 2};
  int64_t positions = 2048;
  std::string_view activation_key = "hidden_act";
  Activation activation = Activation::silu;
  int64_t head_dim = 0;  // where head_dim is absent; 0: width / heads
  int64_t kv_heads = 0;  // where num_key_value_heads is absent; 0, where it is null or that divides no heads: heads
};

// Keys for which Hugging Face has a value where they are absent, and another meaning where they are null.
bool absent(ConfigReader& reader, std::string_view key) { return !reader.json().contains(std::string(key)); }

// Sizes, activation, output, tokens: the keys that all of them have. Norms are RMS, there are no biases.
void read_decoder(ConfigReader& reader, Config& config, const LlamaClass& of = {}) {
  config.family = Family::language_model;
  config.names = "llama";
  StackConfig& stack = config.decoder;
  config.width = reader.size("hidden_size");
  stack.layers = reader.size("num_hidden_layers");
  stack.heads = reader.size("num_attention_heads");
  const bool usual_keys = of.kv_heads > 0 && stack.heads % of.kv_heads == 0 && absent(reader, "num_key_value_heads");
  stack.kv_heads = reader.size("num_key_value_heads", usual_keys ? of.kv_heads : stack.heads);
  check(stack.heads % stack.kv_heads == 0,
        "[config] num_key_value_heads {} does not divide num_attention_heads {}: equally many heads share each key",
        stack.kv_heads, stack.heads);
  const bool own = reader.has("head_dim") || of.head_dim > 0;
  config.head_size =
      own ? reader.size("head_dim", of.head_dim)
          : share({"hidden_size", config.width}, {"num_attention_heads", stack.heads}, ", or head_dim says its size");
  stack.ffn = reader.size("intermediate_size");
  config.max_positions = reader.size("max_position_embeddings", of.positions);
  config.norm = NormKind::rms;
  config.norm_bias = config.attention_bias = config.attention_output_bias = config.ffn_bias = false;
  config.activation = reader.choice(of.activation_key, of.activation, activation_names());
  config.gated = true;
  config.tie_output = reader.flag("tie_word_embeddings", of.tied);
  config.dropout.attention = reader.dropout("attention_dropout", 0);
  config.initializer_range = reader.at_least_zero("initializer_range", 0.02);
  read_tokens(reader, config, of.tokens);
}

void read_rms_eps(ConfigReader& reader, Config& config, double usual = 1e-6) {
  config.norm_eps = static_cast<real>(reader.positive("rms_norm_eps", usual));
}

void read_layer_norm(ConfigReader& reader, Config& config, std::string_view key, bool bias) {
  config.norm = NormKind::layer;
  config.norm_eps = static_cast<real>(reader.positive(key, 1e-5));
  config.norm_bias = bias;
}

void read_attention_bias(ConfigReader& reader, Config& config, std::string_view key = "attention_bias") {
  config.attention_bias = config.attention_output_bias = reader.flag(key, false);
}

void read_llama(ConfigReader& reader, Config& config) {
  read_decoder(reader, config);
  read_rms_eps(reader, config);
  read_attention_bias(reader, config);
  config.ffn_bias = reader.flag("mlp_bias", false);
  read_rope(reader, config, {});
}

void read_mistral_like(ConfigReader& reader, Config& config, double eps, double theta, int64_t usual_window) {
  read_decoder(reader, config, {.positions = 4096 * 32, .kv_heads = 8});
  read_rms_eps(reader, config, eps);
  read_rope(reader, config, {.default_theta = theta});
  const int64_t window = reader.size("sliding_window", absent(reader, "sliding_window") ? usual_window : 0);
  read_windows(reader, config, window, [&](int64_t) { return window > 0; });
}

void read_mistral(ConfigReader& reader, Config& config) { read_mistral_like(reader, config, 1e-6, 10000, 4096); }

void read_mixtral(ConfigReader& reader, Config& config) {
  read_mistral_like(reader, config, 1e-5, 1000000, 0);
  config.names = "mixtral";
  reader.at_least_zero("router_jitter_noise", 0);  // of training
  config.experts = {.count = reader.size("num_local_experts", 8),
                    .chosen = reader.size("num_experts_per_tok", 2),
                    .features = config.decoder.ffn};
}

// What Qwens have to say of windows. Where they use none, the size may be anything, 0 too; null is none.
void read_qwen_windows(ConfigReader& reader, Config& config, const std::function<bool(int64_t)>& has_window) {
  const bool used = reader.flag("use_sliding_window", false);
  reader.find("sliding_window");
  const int64_t usual = absent(reader, "sliding_window") ? 4096 : 0;
  const int64_t window = used ? reader.size("sliding_window", usual) : 0;
  read_windows(reader, config, window, [&](int64_t layer) { return window > 0 && has_window(layer); });
}

// The layer from which on they have windows, or to which.
int64_t max_window_layers(ConfigReader& reader) {
  const auto* value = reader.find("max_window_layers");
  return value && *value == 0 ? 0 : reader.size("max_window_layers", 28);
}

void read_qwen2_base(ConfigReader& reader, Config& config, int64_t kv_heads) {
  read_decoder(reader, config, {.tokens = {}, .positions = 32768, .kv_heads = kv_heads});
  read_rms_eps(reader, config);
  read_rope(reader, config, {});
}

void read_qwen2(ConfigReader& reader, Config& config) {
  read_qwen2_base(reader, config, 32);
  config.attention_bias = true;
  read_qwen_windows(reader, config, [first = max_window_layers(reader)](int64_t layer) { return layer >= first; });
}

void read_qwen3(ConfigReader& reader, Config& config) {
  read_decoder(reader, config, {.tokens = {}, .positions = 32768, .head_dim = 128, .kv_heads = 32});
  read_rms_eps(reader, config);
  read_attention_bias(reader, config);
  config.qk_norm = QueryKeyNorm::each_head;
  read_rope(reader, config, {});
  read_qwen_windows(reader, config, [first = max_window_layers(reader)](int64_t layer) { return layer >= first; });
}

void read_qwen_experts(ConfigReader& reader, Config& config, int64_t count, int64_t chosen) {
  config.names = "qwen_moe";
  if (reader.size("decoder_sparse_step", 1) != 1)
    reader.wrong("decoder_sparse_step", *reader.find("decoder_sparse_step"), "1: every layer has experts");
  if (const auto* plain = reader.find("mlp_only_layers"); plain && !plain->empty())
    reader.wrong("mlp_only_layers", *plain, "an empty list: every layer has experts");
  const int64_t newer = reader.size("num_local_experts", count);  // what releases from 5 on call it
  config.experts = {.count = reader.size("num_experts", newer),
                    .chosen = reader.size("num_experts_per_tok", chosen),
                    .features = reader.size("moe_intermediate_size"),
                    .normalize = reader.flag("norm_topk_prob", false)};
}

void read_qwen2_moe(ConfigReader& reader, Config& config) {
  read_qwen2_base(reader, config, 16);
  config.attention_bias = reader.flag("qkv_bias", true);
  const int64_t first_without = max_window_layers(reader);
  read_qwen_windows(reader, config, [&](int64_t layer) { return layer % 2 == 0 && layer < first_without; });
  read_qwen_experts(reader, config, 60, 4);
  config.experts.shared = reader.size("shared_expert_intermediate_size");
}

void read_qwen3_moe(ConfigReader& reader, Config& config) {
  read_decoder(reader, config, {.tokens = {}, .positions = 32768, .kv_heads = 4});
  read_rms_eps(reader, config);
  read_attention_bias(reader, config);
  config.qk_norm = QueryKeyNorm::each_head;
  read_rope(reader, config, {});
  read_qwen_windows(reader, config, [](int64_t) { return true; });
  read_qwen_experts(reader, config, 128, 8);
}

// What the three Gemmas have in common. Of two keys for the activation the first takes one, the others the other.
void read_gemma_base(ConfigReader& reader, Config& config, int64_t positions, int64_t kv_heads,
                     std::string_view activation_key = "hidden_activation") {
  read_decoder(reader, config,
               {.tied = true,
                .tokens = {.pad = 0, .bos = 2, .eos = 1},
                .positions = positions,
                .activation_key = activation_key,
                .activation = Activation::gelu_tanh,
                .head_dim = 256,
                .kv_heads = kv_heads});
  reader.find("hidden_act");
  reader.find("hidden_activation");
  read_rms_eps(reader, config);
  read_attention_bias(reader, config);
  config.norm_offset = 1;
  config.scale_embedding = true;
}

void read_gemma(ConfigReader& reader, Config& config) {
  read_gemma_base(reader, config, 8192, 16, "hidden_act");
  read_rope(reader, config, {});
}

void read_four_norms_and_caps(ConfigReader& reader, Config& config, bool capped) {
  config.names = "gemma2";
  config.norm_place = NormPlace::both;
  config.attention_scale = 1 / std::sqrt(reader.positive("query_pre_attn_scalar", 256));
  const auto cap = [&](std::string_view key, double usual) {
    return static_cast<real>(reader.at_least_zero(key, capped && absent(reader, key) ? usual : 0));
  };
  if (capped)
    config.attention_cap = cap("attn_logit_softcapping", 50);
  else if (reader.has("attn_logit_softcapping"))
    config.notes.emplace_back("attn_logit_softcapping is ignored, as by others: Gemma 3 caps no scores");
  config.logit_cap = cap("final_logit_softcapping", 30);
}

void read_gemma2(ConfigReader& reader, Config& config) {
  read_gemma_base(reader, config, 8192, 4);
  read_four_norms_and_caps(reader, config, true);
  read_rope(reader, config, {});
  read_windows(reader, config, reader.size("sliding_window", 4096), [](int64_t layer) { return layer % 2 == 0; });
}

void read_gemma3(ConfigReader& reader, Config& config) {
  read_gemma_base(reader, config, 131072, 4);
  read_four_norms_and_caps(reader, config, false);
  config.qk_norm = QueryKeyNorm::each_head;
  read_rope(reader, config,
            {.default_theta = 1000000, .local_theta = "rope_local_base_freq", .default_local_theta = 10000});
  const int64_t pattern = reader.size("sliding_window_pattern", reader.size("_sliding_window_pattern", 6));
  int64_t window = reader.size("sliding_window", 4096);
  if (reader.flag("use_bidirectional_attention", false)) {  // EmbeddingGemma: half of the window on each side
    config.causal = false;
    window = window / 2 + 1;
  }
  read_windows(reader, config, window, [&](int64_t layer) { return (layer + 1) % pattern != 0; });
}

void read_phi3(ConfigReader& reader, Config& config) {
  read_decoder(reader, config, {.tokens = {.pad = 32000, .bos = 1, .eos = 32000}, .positions = 4096});
  read_rms_eps(reader, config, 1e-5);
  config.names = "phi3";
  config.fused_gate = true;
  config.dropout.embedding = reader.dropout("embd_pdrop", 0);
  config.dropout.residual = reader.dropout("resid_pdrop", 0);
  read_rope(reader, config, {.partial = "partial_rotary_factor"});
  const int64_t window = reader.size("sliding_window", 0);
  read_windows(reader, config, window, [&](int64_t) { return window > 0; });
}

void read_phi(ConfigReader& reader, Config& config) {
  read_decoder(reader, config, {.activation = Activation::gelu_tanh});
  read_layer_norm(reader, config, "layer_norm_eps", true);
  reader.find("rms_norm_eps");
  config.names = "phi";
  config.gated = false;
  config.attention_bias = config.attention_output_bias = config.ffn_bias = config.output_bias = true;
  config.parallel = true;
  if (reader.flag("qk_layernorm", false)) config.qk_norm = QueryKeyNorm::each_head;
  config.dropout.embedding = reader.dropout("embd_pdrop", 0);
  config.dropout.residual = reader.dropout("resid_pdrop", 0);
  read_rope(reader, config, {.partial = "partial_rotary_factor", .default_partial = 0.5});
}

void read_smollm3(ConfigReader& reader, Config& config) {
  read_decoder(
      reader, config,
      {.tied = true, .tokens = {.pad = 128004, .bos = 128000, .eos = 128001}, .positions = 32768, .kv_heads = 4});
  read_rms_eps(reader, config);
  read_attention_bias(reader, config);
  config.ffn_bias = reader.flag("mlp_bias", false);
  read_rope(reader, config, {.default_theta = 2000000});
  const bool used = reader.flag("use_sliding_window", false);
  const int64_t window = reader.size("sliding_window", 0), layers = config.decoder.layers;
  const int64_t every = reader.size("no_rope_layer_interval", 4);
  const auto* turned = reader.find("no_rope_layers");  // one for each layer: 1 has rotary positions
  if (turned && (!turned->is_array() || std::ssize(*turned) != layers))
    reader.wrong("no_rope_layers", *turned, fmt::format("a list of {} numbers, 0 or 1", layers));
  const auto has_rope = [&](int64_t i) { return turned ? turned->at(i) != 0 : (i + 1) % every != 0; };
  read_windows(reader, config, window, [&](int64_t layer) { return used && window > 0 && !has_rope(layer); });
  for (int64_t i = 0; i < layers; ++i)
    if (!has_rope(i)) config.layers[i].rope = LayerConfig::Rope::none;
}

// Norms have no weights.
void read_olmo(ConfigReader& reader, Config& config) {
  read_decoder(reader, config, {.tokens = {.pad = 1, .bos = {}, .eos = 50279}});
  reader.find("rms_norm_eps");
  config.norm = NormKind::layer;
  config.norm_eps = static_cast<real>(1e-5);
  config.norm_gain = false;
  read_attention_bias(reader, config);
  if (reader.has("clip_qkv")) config.clip_qkv = static_cast<real>(reader.positive("clip_qkv", 1));
  read_rope(reader, config, {});
}

void read_olmo2(ConfigReader& reader, Config& config) {
  read_decoder(reader, config, {.tokens = {.pad = 1, .bos = {}, .eos = 50279}});
  read_rms_eps(reader, config, 1e-5);
  config.names = "olmo2";
  config.norm_place = NormPlace::output;
  config.qk_norm = QueryKeyNorm::all_heads;
  read_attention_bias(reader, config);
  read_rope(reader, config, {});
}

void read_granite(ConfigReader& reader, Config& config) {
  read_llama(reader, config);
  config.embedding_factor = static_cast<real>(reader.positive("embedding_multiplier", 1));
  config.residual_factor = static_cast<real>(reader.positive("residual_multiplier", 1));
  config.attention_scale = reader.positive("attention_multiplier", 1);
  config.logit_factor = static_cast<real>(1 / reader.positive("logits_scaling", 1));
}

void read_starcoder2(ConfigReader& reader, Config& config) {
  read_decoder(reader, config,
               {.tied = true,
                .tokens = {.pad = {}, .bos = 50256, .eos = 50256},
                .positions = 4096,
                .activation = Activation::gelu_tanh,
                .kv_heads = 2});
  read_layer_norm(reader, config, "norm_epsilon", true);
  config.names = "starcoder2";
  config.gated = false;
  config.attention_bias = config.attention_output_bias = config.ffn_bias = reader.flag("use_bias", true);
  config.dropout.embedding = reader.dropout("embedding_dropout", 0);
  config.dropout.residual = reader.dropout("residual_dropout", 0);
  read_rope(reader, config, {});
  const int64_t window = reader.size("sliding_window", 0);
  read_windows(reader, config, window, [&](int64_t) { return window > 0; });
}

void read_stablelm(ConfigReader& reader, Config& config) {
  read_decoder(reader, config, {.tokens = {.pad = {}, .bos = 0, .eos = 0}, .positions = 4096, .kv_heads = 32});
  read_layer_norm(reader, config, "layer_norm_eps", true);
  reader.find("rms_norm_eps");
  config.attention_bias = reader.flag("use_qkv_bias", false);
  config.parallel = reader.flag("use_parallel_residual", false);
  config.dropout.residual = reader.dropout("hidden_dropout", 0);
  read_rope(reader, config, {.partial = "partial_rotary_factor", .default_partial = 0.25});
}

void read_cohere(ConfigReader& reader, Config& config) {
  read_decoder(reader, config, {.tied = true, .tokens = {.pad = 0, .bos = 5, .eos = 255001}, .positions = 8192});
  read_layer_norm(reader, config, "layer_norm_eps", false);
  read_attention_bias(reader, config);
  config.parallel = true;
  config.logit_factor = static_cast<real>(reader.positive("logit_scale", 0.0625));
  read_rope(reader, config, {});
  config.rope.interleaved = true;
}

}  // namespace

FamilyReaders llama_readers() {
  return {{"llama", read_llama},
          {"mistral", read_mistral},
          {"mixtral", read_mixtral},
          {"qwen2", read_qwen2},
          {"qwen2_moe", read_qwen2_moe},
          {"qwen3", read_qwen3},
          {"qwen3_moe", read_qwen3_moe},
          {"gemma", read_gemma},
          {"gemma2", read_gemma2},
          {"gemma3_text", read_gemma3},
          {"phi", read_phi},
          {"phi3", read_phi3},
          {"smollm3", read_smollm3},
          {"olmo", read_olmo},
          {"olmo2", read_olmo2},
          {"granite", read_granite},
          {"starcoder2", read_starcoder2},
          {"stablelm", read_stablelm},
          {"cohere", read_cohere}};
}

}  // namespace limpid
