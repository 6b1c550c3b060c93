#include "formats/gguf_facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;

struct Architecture {
  std::string_view gguf, model_type;
};
// The first row of a word of GGUF is what files with it are read as.
constexpr std::array kArchitectures = {Architecture{"llama", "llama"},   Architecture{"llama", "mistral"},
                                       Architecture{"qwen2", "qwen2"},   Architecture{"qwen3", "qwen3"},
                                       Architecture{"phi3", "phi3"},     Architecture{"gemma", "gemma"},
                                       Architecture{"gemma2", "gemma2"}, Architecture{"gemma3", "gemma3_text"},
                                       Architecture{"gpt2", "gpt2"},     Architecture{"gptneox", "gpt_neox"},
                                       Architecture{"bert", "bert"},     Architecture{"t5", "t5"},
                                       Architecture{"t5", "mt5"}};

bool is_gemma(const GgufFacts& facts) { return facts.architecture.starts_with("gemma"); }

// The largest ones have scores divided by the root of the width's share of a head; GGUF has no key for it.
double query_scalar(const GgufFacts& facts) {
  const bool largest =
      (facts.architecture == "gemma2" && facts.layers == 46) || (facts.architecture == "gemma3" && facts.layers == 62);
  return static_cast<double>(largest ? facts.width / facts.heads : facts.head_size);
}

ordered_json factors_json(const GgufFacts& facts) {
  if (facts.linear != 1) return {{"rope_type", "linear"}, {"factor", facts.linear}};
  if (facts.yarn != 1)
    return {{"rope_type", "yarn"},
            {"factor", facts.yarn},
            {"original_max_position_embeddings", facts.original_positions},
            {"beta_fast", facts.beta_fast},
            {"beta_slow", facts.beta_slow}};
  if (!facts.frequency_divisors.empty())
    return {{"rope_type", "longrope"},
            {"short_factor", facts.frequency_divisors},
            {"long_factor", facts.frequency_divisors},
            {"original_max_position_embeddings", facts.positions},
            {"attention_factor", 1.0}};
  return {{"rope_type", "longrope"}, {"short_factor", facts.short_factors}, {"long_factor", facts.long_factors}};
}

void add_gemma(const GgufFacts& facts, ordered_json& json) {
  json["head_dim"] = facts.head_size;
  json["hidden_activation"] = "gelu_pytorch_tanh";
  if (facts.architecture == "gemma") return;
  json["query_pre_attn_scalar"] = query_scalar(facts);
  json["sliding_window"] = facts.window > 0 ? facts.window : facts.positions;
  const auto cap = [](double value) { return value > 0 ? ordered_json(value) : ordered_json(); };
  json["attn_logit_softcapping"] = cap(facts.attention_cap);
  json["final_logit_softcapping"] = cap(facts.logit_cap);
  if (facts.architecture == "gemma2") return;
  json["sliding_window_pattern"] = facts.window > 0 ? facts.window_period : 1;
  json["rope_local_base_freq"] = facts.local_theta;
}

// Llama and what is made like it: qwen2, qwen3, phi3, gemma.
ordered_json llama_json(const GgufFacts& facts) {
  ordered_json json = {{"model_type", model_type_of(facts.architecture)},
                       {"vocab_size", facts.vocab},
                       {"hidden_size", facts.width},
                       {"intermediate_size", facts.ffn},
                       {"num_hidden_layers", facts.layers},
                       {"num_attention_heads", facts.heads},
                       {"num_key_value_heads", facts.kv_heads},
                       {"max_position_embeddings", facts.positions},
                       {"rms_norm_eps", facts.norm_eps},
                       {"rope_theta", facts.theta},
                       {"tie_word_embeddings", facts.tied}};
  if (is_gemma(facts)) {
    add_gemma(facts, json);
  } else {
    if (facts.architecture == "llama") json["attention_bias"] = facts.attention_bias;
    if (facts.architecture == "llama") json["mlp_bias"] = facts.ffn_bias;
    if (facts.head_size * facts.heads != facts.width || facts.architecture == "qwen3")
      json["head_dim"] = facts.head_size;
    if (facts.architecture == "phi3" && facts.window > 0) json["sliding_window"] = facts.window;
    if (facts.architecture == "phi3" && facts.turned < facts.head_size)
      json["partial_rotary_factor"] = static_cast<double>(facts.turned) / static_cast<double>(facts.head_size);
  }
  if (facts.original_positions > 0 && facts.yarn == 1)
    json["original_max_position_embeddings"] = facts.original_positions;
  if (facts.linear != 1 || facts.yarn != 1 || !facts.frequency_divisors.empty() || !facts.long_factors.empty())
    json["rope_scaling"] = factors_json(facts);
  return json;
}

ordered_json gpt2_json(const GgufFacts& facts) {
  return {{"model_type", "gpt2"},
          {"vocab_size", facts.vocab},
          {"n_embd", facts.width},
          {"n_inner", facts.ffn},
          {"n_layer", facts.layers},
          {"n_head", facts.heads},
          {"n_positions", facts.positions},
          {"layer_norm_epsilon", facts.norm_eps},
          {"tie_word_embeddings", facts.tied}};
}

ordered_json gpt_neox_json(const GgufFacts& facts) {
  return {{"model_type", "gpt_neox"},
          {"vocab_size", facts.vocab},
          {"hidden_size", facts.width},
          {"intermediate_size", facts.ffn},
          {"num_hidden_layers", facts.layers},
          {"num_attention_heads", facts.heads},
          {"max_position_embeddings", facts.positions},
          {"layer_norm_eps", facts.norm_eps},
          {"hidden_act", "gelu"},
          {"rotary_pct", static_cast<double>(facts.turned) / static_cast<double>(facts.head_size)},
          {"rotary_emb_base", facts.theta},
          {"use_parallel_residual", facts.parallel},
          {"tie_word_embeddings", facts.tied}};
}

ordered_json bert_json(const GgufFacts& facts) {
  return {{"model_type", "bert"},
          {"architectures", {"BertModel"}},
          {"vocab_size", facts.vocab},
          {"hidden_size", facts.width},
          {"intermediate_size", facts.ffn},
          {"num_hidden_layers", facts.layers},
          {"num_attention_heads", facts.heads},
          {"max_position_embeddings", facts.positions},
          {"type_vocab_size", facts.token_types},
          {"layer_norm_eps", facts.norm_eps},
          {"hidden_act", "gelu"}};
}

ordered_json t5_json(const GgufFacts& facts) {
  return {{"model_type", "t5"},
          {"architectures", {"T5ForConditionalGeneration"}},
          {"vocab_size", facts.vocab},
          {"d_model", facts.width},
          {"d_kv", facts.head_size},
          {"d_ff", facts.ffn},
          {"num_layers", facts.layers},
          {"num_decoder_layers", facts.decoder_layers},
          {"num_heads", facts.heads},
          {"n_positions", facts.positions},
          {"relative_attention_num_buckets", facts.buckets},
          {"relative_attention_max_distance", 128},
          {"layer_norm_epsilon", facts.norm_eps},
          {"feed_forward_proj", facts.gated ? "gated-gelu" : "relu"},
          {"decoder_start_token_id", facts.start_token},
          {"tie_word_embeddings", facts.tied}};
}

// ---- from a config

// What divides each frequency where positions are stretched as Llama 3's are.
std::vector<double> llama3_divisors(const Config& config) {
  const RopeConfig plain{.theta = config.rope.theta, .dims = config.rope.dims};
  const auto usual = Rope(plain, config.head_size).rotation(1),
             stretched = Rope(config.rope, config.head_size).rotation(1);
  std::vector<double> divisors;
  for (size_t i = 0; i < usual->frequencies.size(); ++i)
    divisors.push_back(usual->frequencies[i] / stretched->frequencies[i]);
  return divisors;
}

void take_rope(const Config& config, GgufFacts& facts) {
  const RopeConfig& rope = config.rope;
  facts.theta = rope.theta;
  if (config.local_rope.theta > 0) facts.local_theta = config.local_rope.theta;
  facts.turned = rope.turned(config.head_size);
  if (rope.scaling == RopeScaling::linear) facts.linear = rope.factor;
  if (rope.scaling == RopeScaling::yarn) {
    facts.yarn = rope.factor;
    facts.beta_fast = rope.beta_fast;
    facts.beta_slow = rope.beta_slow;
    facts.original_positions = static_cast<int64_t>(rope.original_positions);
  }
  if (rope.scaling == RopeScaling::llama3) facts.frequency_divisors = llama3_divisors(config);
  if (rope.scaling != RopeScaling::longrope) return;
  if (rope.short_factors == rope.long_factors && rope.attention_factor == 1) {
    facts.frequency_divisors = rope.long_factors;
    return;
  }
  facts.short_factors = rope.short_factors;
  facts.long_factors = rope.long_factors;
  facts.original_positions = static_cast<int64_t>(rope.original_positions);
}

void take_windows(const Config& config, GgufFacts& facts) {
  const auto sees_all = [](const LayerConfig& layer) { return layer.window == 0; };
  for (const LayerConfig& layer : config.layers) facts.window = std::max(facts.window, layer.window);
  const auto first = std::find_if(config.layers.begin(), config.layers.end(), sees_all);
  facts.window_period = first - config.layers.begin() + 1;
}

}  // namespace

std::string_view gguf_architecture(std::string_view model_type) {
  const auto found = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                  [&](const Architecture& one) { return one.model_type == model_type; });
  return found == kArchitectures.end() ? std::string_view() : found->gguf;
}

std::string_view model_type_of(std::string_view architecture) {
  const auto found = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                  [&](const Architecture& one) { return one.gguf == architecture; });
  return found == kArchitectures.end() ? std::string_view() : found->model_type;
}

GgufFacts gguf_facts(const Config& config) {
  const StackConfig& stack = config.cross_attention() ? config.encoder : config.stack();
  GgufFacts facts{.architecture = std::string(gguf_architecture(config.model_type)),
                  .vocab = config.vocab,
                  .width = config.width,
                  .layers = stack.layers,
                  .decoder_layers = config.decoder.layers,
                  .ffn = stack.ffn,
                  .heads = stack.heads,
                  .kv_heads = stack.kv_heads,
                  .head_size = config.head_size,
                  .positions = config.max_positions,
                  .norm_eps = std::stod(fmt::format("{}", static_cast<float>(config.norm_eps))),
                  .tied = config.tie_output,
                  .attention_bias = config.attention_bias,
                  .ffn_bias = config.ffn_bias,
                  .gated = config.gated,
                  .parallel = config.parallel,
                  .token_types = config.token_types,
                  .buckets = config.relative_buckets,
                  .start_token = config.decoder_start_token.value_or(0),
                  .attention_cap = static_cast<double>(config.attention_cap),
                  .logit_cap = static_cast<double>(config.logit_cap)};
  if (config.positions == PositionKind::rotary) take_rope(config, facts);
  take_windows(config, facts);
  return facts;
}

ordered_json config_json(const GgufFacts& facts) {
  if (facts.architecture == "gpt2") return gpt2_json(facts);
  if (facts.architecture == "gptneox") return gpt_neox_json(facts);
  if (facts.architecture == "bert") return bert_json(facts);
  if (facts.architecture == "t5") return t5_json(facts);
  return llama_json(facts);
}

void add_gguf_facts(GgufWriter& writer, const GgufFacts& facts) {
  const std::string& name = facts.architecture;
  const auto put_integer = [&](const char* key, int64_t value) {
    writer.integer(name + "." + key, static_cast<uint32_t>(value));
  };
  const auto put_real = [&](const char* key, double value) {
    writer.real(name + "." + key, static_cast<float>(value));
  };
  const bool rotary = name != "gpt2" && name != "bert" && name != "t5";
  const bool rms = rotary && name != "gptneox";
  put_integer("vocab_size", facts.vocab);
  put_integer("context_length", facts.positions);
  put_integer("embedding_length", facts.width);
  put_integer("block_count", facts.layers);
  put_integer("feed_forward_length", facts.ffn);
  put_integer("attention.head_count", facts.heads);
  if (!rms) put_real("attention.layer_norm_epsilon", facts.norm_eps);
  if (rms || name == "t5") {
    put_real("attention.layer_norm_rms_epsilon", facts.norm_eps);
    put_integer("attention.head_count_kv", facts.kv_heads);
    put_integer("attention.key_length", facts.head_size);
    put_integer("attention.value_length", facts.head_size);
  }
  if (rotary) {
    put_integer("rope.dimension_count", facts.turned);
    put_real("rope.freq_base", facts.theta);
  }
  if (facts.linear != 1) {
    writer.text(name + ".rope.scaling.type", "linear");
    put_real("rope.scaling.factor", facts.linear);
  }
  if (facts.yarn != 1) {
    writer.text(name + ".rope.scaling.type", "yarn");
    put_real("rope.scaling.factor", facts.yarn);
    put_real("rope.scaling.yarn_beta_fast", facts.beta_fast);
    put_real("rope.scaling.yarn_beta_slow", facts.beta_slow);
  }
  if (facts.original_positions > 0) put_integer("rope.scaling.original_context_length", facts.original_positions);
  if (!facts.long_factors.empty()) {
    const double grown = static_cast<double>(facts.positions) / static_cast<double>(facts.original_positions);
    const double original = static_cast<double>(facts.original_positions);
    put_real("rope.scaling.attn_factor", grown > 1 ? std::sqrt(1 + std::log(grown) / std::log(original)) : 1);
  }
  if (facts.window > 0) put_integer("attention.sliding_window", facts.window);
  if (facts.window > 0 && is_gemma(facts)) put_integer("attention.sliding_window_pattern", facts.window_period);
  if (name == "gemma3") put_real("rope.freq_base_swa", facts.local_theta);
  if (facts.attention_cap > 0) put_real("attn_logit_softcapping", facts.attention_cap);
  if (facts.logit_cap > 0) put_real("final_logit_softcapping", facts.logit_cap);
  if (name == "gptneox") writer.flag(name + ".use_parallel_residual", facts.parallel);
  if (name == "bert") {
    writer.flag(name + ".attention.causal", false);
    writer.integer("tokenizer.ggml.token_type_count", static_cast<uint32_t>(facts.token_types));
  }
  if (name == "t5") {
    put_integer("decoder_block_count", facts.decoder_layers);
    put_integer("attention.relative_buckets_count", facts.buckets);
    put_integer("decoder_start_token_id", facts.start_token);
  }
}

}  // namespace limpid
