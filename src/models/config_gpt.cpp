// Language models made like GPT-2: layer norm with biases, mostly plain feed-forward networks.

#include "base/error.h"
#include "models/config_family.h"

namespace limpid {
namespace {

// Norm, dropout, output and tokens that most of them have under these keys.
void read_gpt_base(ConfigReader& reader, Config& config, bool tied, const TokenDefaults& tokens,
                   std::string_view eps_key = "layer_norm_epsilon") {
  config.family = Family::language_model;
  config.norm_eps = static_cast<real>(reader.positive(eps_key, 1e-5));
  config.tie_output = reader.flag("tie_word_embeddings", tied);
  config.initializer_range = reader.at_least_zero("initializer_range", 0.02);
  read_tokens(reader, config, tokens);
}

void read_sizes(ConfigReader& reader, Config& config, const char* width, const char* layers, const char* heads) {
  config.width = reader.size(width);
  config.decoder.layers = reader.size(layers);
  config.decoder.heads = config.decoder.kv_heads = reader.size(heads);
  config.head_size = share({width, config.width}, {heads, config.decoder.heads});
}

void read_gpt2(ConfigReader& reader, Config& config) {
  read_sizes(reader, config, "n_embd", "n_layer", "n_head");
  read_gpt_base(reader, config, true, {.pad = {}, .bos = 50256, .eos = 50256});
  config.max_positions = reader.size("n_positions");
  config.decoder.ffn = reader.size("n_inner", 4 * config.width);
  config.activation = reader.choice("activation_function", Activation::gelu_tanh, activation_names());
  config.scale_scores = reader.flag("scale_attn_weights", true);
  config.scale_by_layer = reader.flag("scale_attn_by_inverse_layer_idx", false);
  config.layout = WeightLayout::in_out;
  config.dropout.embedding = reader.dropout("embd_pdrop", 0.1);
  config.dropout.attention = reader.dropout("attn_pdrop", 0.1);
  config.dropout.residual = reader.dropout("resid_pdrop", 0.1);
}

void read_gptj(ConfigReader& reader, Config& config) {
  read_sizes(reader, config, "n_embd", "n_layer", "n_head");
  read_gpt_base(reader, config, false, {.pad = {}, .bos = 50256, .eos = 50256});
  config.max_positions = reader.size("n_positions", 2048);
  config.decoder.ffn = reader.size("n_inner", 4 * config.width);
  config.activation = reader.choice("activation_function", Activation::gelu_tanh, activation_names());
  config.attention_bias = config.attention_output_bias = false;
  config.output_bias = true;
  config.parallel = true;
  config.dropout.embedding = reader.dropout("embd_pdrop", 0);
  config.dropout.attention = reader.dropout("attn_pdrop", 0);
  config.dropout.residual = reader.dropout("resid_pdrop", 0);
  read_rope(reader, config, {});
  config.rope.dims = reader.size("rotary_dim", 64);
  check(config.rope.dims <= config.head_size && config.rope.dims % 2 == 0,
        "[config] rotary_dim is {}: allowed is an even number up to a head's {}", config.rope.dims, config.head_size);
  config.rope.interleaved = true;
}

// attention_layers has a word for each layer; attention_types says the same as patterns and how often they come.
std::vector<bool> read_local_layers(ConfigReader& reader, int64_t layers) {
  std::vector<bool> local;
  const auto add = [&](const nlohmann::ordered_json& words) {
    for (const auto& word : words) local.push_back(word == "local");
  };
  const auto* list = reader.find("attention_layers");
  const auto* types = reader.find("attention_types");
  if (list && list->is_array()) {
    add(*list);
  } else if (types && types->is_array()) {
    for (const auto& item : *types)
      for (int64_t i = 0; item.is_array() && item.size() == 2 && item[1].is_number_integer() && i < item[1]; ++i)
        add(item[0]);
  } else {
    for (int64_t i = 0; i < layers; ++i) local.push_back(i % 2 == 1);
  }
  check(std::ssize(local) == layers, "[config] attention_layers has {} layers: allowed are num_layers {}", local.size(),
        layers);
  return local;
}

void read_gpt_neo(ConfigReader& reader, Config& config) {
  read_sizes(reader, config, "hidden_size", "num_layers", "num_heads");
  read_gpt_base(reader, config, true, {.pad = {}, .bos = 50256, .eos = 50256});
  config.max_positions = reader.size("max_position_embeddings", 2048);
  config.decoder.ffn = reader.size("intermediate_size", 4 * config.width);
  config.activation = reader.choice("activation_function", Activation::gelu_tanh, activation_names());
  config.attention_bias = false;
  config.scale_scores = false;
  config.dropout.embedding = reader.dropout("embed_dropout", 0);
  config.dropout.attention = reader.dropout("attention_dropout", 0);
  config.dropout.residual = reader.dropout("resid_dropout", 0);
  const std::vector<bool> local = read_local_layers(reader, config.decoder.layers);
  config.local_rope.theta = 0;
  read_windows(reader, config, reader.size("window_size", 256), [&](int64_t layer) { return local[layer]; });
}

void read_gpt_neox(ConfigReader& reader, Config& config) {
  read_sizes(reader, config, "hidden_size", "num_hidden_layers", "num_attention_heads");
  read_gpt_base(reader, config, false, {.pad = {}, .bos = 0, .eos = 2}, "layer_norm_eps");
  config.max_positions = reader.size("max_position_embeddings", 2048);
  config.decoder.ffn = reader.size("intermediate_size");
  config.activation = reader.choice("hidden_act", Activation::gelu, activation_names());
  config.attention_bias = config.attention_output_bias = reader.flag("attention_bias", true);
  config.fused_layout = FusedLayout::heads;
  config.parallel = reader.flag("use_parallel_residual", true);
  config.parallel_one_norm = false;
  config.dropout.attention = reader.dropout("attention_dropout", 0);
  config.dropout.embedding = config.dropout.residual = reader.dropout("hidden_dropout", 0);
  // Of two names for one thing the older one counts, as in Hugging Face's class.
  const auto older = [&](std::string_view old, std::string_view now) {
    reader.find(now);
    return reader.has(old) || !reader.has(now) ? old : now;
  };
  read_rope(reader, config,
            {.theta = older("rotary_emb_base", "rope_theta"),
             .partial = older("rotary_pct", "partial_rotary_factor"),
             .default_partial = 0.25});
}

void read_opt(ConfigReader& reader, Config& config) {
  config.family = Family::language_model;
  read_sizes(reader, config, "hidden_size", "num_hidden_layers", "num_attention_heads");
  config.decoder.ffn = reader.size("ffn_dim");
  config.max_positions = reader.size("max_position_embeddings", 2048);
  config.position_offset = 2;
  const int64_t narrow = reader.size("word_embed_proj_dim", config.width);
  config.embed_width = narrow == config.width ? 0 : narrow;
  const bool first = reader.flag("do_layer_norm_before", true);
  config.norm_place = first ? NormPlace::before : NormPlace::after;
  config.final_norm = first && !reader.flag("_remove_final_layer_norm", false);
  config.norm_gain = config.norm_bias = reader.flag("layer_norm_elementwise_affine", true);
  config.attention_bias = config.attention_output_bias = config.ffn_bias = reader.flag("enable_bias", true);
  config.activation = reader.choice("activation_function", Activation::relu, activation_names());
  config.tie_output = reader.flag("tie_word_embeddings", true);
  config.dropout.residual = reader.dropout("dropout", 0.1);
  config.dropout.attention = reader.dropout("attention_dropout", 0);
  config.initializer_range = reader.at_least_zero("init_std", 0.02);
  read_tokens(reader, config, {.pad = 1, .bos = 2, .eos = 2});
}

int64_t either(ConfigReader& reader, std::string_view key, std::string_view other) {
  return reader.has(other) ? reader.size(other) : reader.size(key);
}

void read_bloom(ConfigReader& reader, Config& config) {
  config.width = either(reader, "hidden_size", "n_embed");
  config.decoder.layers = either(reader, "n_layer", "num_hidden_layers");
  config.decoder.heads = config.decoder.kv_heads = either(reader, "n_head", "num_attention_heads");
  config.head_size = share({"hidden_size", config.width}, {"n_head", config.decoder.heads});
  read_gpt_base(reader, config, true, {.pad = 3, .bos = 1, .eos = 2});
  config.max_positions = reader.size("seq_length", 2048);
  config.decoder.ffn = 4 * config.width;
  config.activation = Activation::gelu_tanh;
  config.positions = PositionKind::none;
  config.relative = RelativeKind::slopes;
  config.embedding_norm = true;
  config.fused_layout = FusedLayout::heads;
  config.dropout.residual = reader.dropout("hidden_dropout", 0);
  config.dropout.attention = reader.dropout("attention_dropout", 0);
  if (reader.flag("apply_residual_connection_post_layernorm", false))
    reader.wrong("apply_residual_connection_post_layernorm", true, "false");
}

void read_falcon(ConfigReader& reader, Config& config) {
  config.width = reader.size("hidden_size");
  config.decoder.layers = either(reader, "num_hidden_layers", "n_layer");
  const int64_t heads = either(reader, "num_attention_heads", "n_head");
  config.decoder.heads = heads;
  config.head_size = share({"hidden_size", config.width}, {"num_attention_heads", heads});
  read_gpt_base(reader, config, true, {.pad = {}, .bos = 11, .eos = 11});
  config.max_positions = reader.size("max_position_embeddings", 2048);
  config.decoder.ffn = reader.size("ffn_hidden_size", 4 * config.width);
  config.activation = reader.choice("activation", Activation::gelu, activation_names());
  const bool grouped = reader.flag("new_decoder_architecture", false), one_key = reader.flag("multi_query", true);
  const int64_t keys = reader.has("num_kv_heads") ? reader.size("num_kv_heads") : reader.size("n_head_kv", heads);
  config.decoder.kv_heads = grouped ? keys : one_key ? 1 : heads;
  check(heads % config.decoder.kv_heads == 0, "[config] num_kv_heads {} does not divide num_attention_heads {}",
        config.decoder.kv_heads, heads);
  config.fused_layout = grouped || !one_key ? FusedLayout::heads : FusedLayout::parts;
  config.attention_bias = config.attention_output_bias = config.ffn_bias = reader.flag("bias", false);
  const int64_t norms = reader.size("num_ln_in_parallel_attn", grouped ? 2 : 1);
  config.parallel = reader.flag("parallel_attn", true) || grouped;
  config.parallel_one_norm = !(grouped && norms == 2);
  config.names = config.parallel_one_norm ? "bloom" : "falcon-grouped";
  config.dropout.residual = reader.dropout("hidden_dropout", 0);
  config.dropout.attention = reader.dropout("attention_dropout", 0);
  if (reader.flag("alibi", false)) {
    // Hugging Face's class rounds slopes and what they add to bfloat16, which changes nothing for powers of two.
    check(
        heads <= 8 && (heads & (heads - 1)) == 0,
        "[config] alibi is true and num_attention_heads {}: allowed are 1, 2, 4 and 8, whose slopes are powers of two",
        heads);
    config.notes.emplace_back(
        "beyond 256 tokens others round what alibi adds to bfloat16: their numbers differ a little");
    config.positions = PositionKind::none;
    config.relative = RelativeKind::slopes;
    config.slopes_scaled = true;
  } else {
    read_rope(reader, config, {});
  }
}

}  // namespace

FamilyReaders gpt_readers() {
  return {{"gpt2", read_gpt2}, {"gptj", read_gptj},   {"gpt_neo", read_gpt_neo}, {"gpt_neox", read_gpt_neox},
          {"opt", read_opt},   {"bloom", read_bloom}, {"falcon", read_falcon}};
}

}  // namespace limpid
