#include "experiments/known_configs.h"

#include <algorithm>

#include "base/error.h"

namespace limpid {
namespace {

Json gpt(int64_t layers, int64_t width, int64_t heads, int64_t positions, bool tied = true) {
  return {{"model_type", "gpt2"}, {"vocab_size", 50257},      {"n_layer", layers},          {"n_embd", width},
          {"n_head", heads},      {"n_positions", positions}, {"tie_word_embeddings", tied}};
}

// The Transformer of "Attention Is All You Need": one table of 37,000 words for both sides.
Json paper(int64_t layers, int64_t width, int64_t heads, int64_t ffn) {
  return {{"model_type", "marian"},           {"vocab_size", 37000},           {"d_model", width},
          {"encoder_layers", layers},         {"decoder_layers", layers},      {"encoder_attention_heads", heads},
          {"decoder_attention_heads", heads}, {"encoder_ffn_dim", ffn},        {"decoder_ffn_dim", ffn},
          {"decoder_start_token_id", 0},      {"max_position_embeddings", 512}};
}

Json bert(int64_t layers, int64_t width, int64_t heads) {
  return {{"model_type", "bert"},           {"vocab_size", 30522},          {"hidden_size", width},
          {"num_hidden_layers", layers},    {"num_attention_heads", heads}, {"intermediate_size", 4 * width},
          {"max_position_embeddings", 512}, {"type_vocab_size", 2}};
}

struct Llama {
  int64_t vocab, layers, width, heads, key_heads, ffn;
  bool tied = false;
};

Json llama(const Llama& shape) {
  return {
      {"model_type", "llama"},          {"vocab_size", shape.vocab},          {"num_hidden_layers", shape.layers},
      {"hidden_size", shape.width},     {"num_attention_heads", shape.heads}, {"num_key_value_heads", shape.key_heads},
      {"intermediate_size", shape.ffn}, {"max_position_embeddings", 4096},    {"tie_word_embeddings", shape.tied}};
}

Json gemma_2b() {
  return {{"model_type", "gemma"},
          {"vocab_size", 256000},
          {"num_hidden_layers", 18},
          {"hidden_size", 2048},
          {"num_attention_heads", 8},
          {"num_key_value_heads", 1},
          {"head_dim", 256},
          {"intermediate_size", 16384},
          {"hidden_act", "gelu_pytorch_tanh"},
          {"max_position_embeddings", 8192}};
}

Json xlm_roberta() {
  return {{"model_type", "xlm-roberta"},    {"vocab_size", 250002},      {"hidden_size", 768},
          {"num_hidden_layers", 12},        {"num_attention_heads", 12}, {"intermediate_size", 3072},
          {"max_position_embeddings", 514}, {"type_vocab_size", 1},      {"pad_token_id", 1}};
}

Json falcon_7b() {
  return {{"model_type", "falcon"},
          {"vocab_size", 65024},
          {"hidden_size", 4544},
          {"num_hidden_layers", 32},
          {"num_attention_heads", 71},
          {"multi_query", true},
          {"new_decoder_architecture", false},
          {"parallel_attn", true},
          {"bias", false},
          {"alibi", false}};
}

Json phi_2() {
  return {{"model_type", "phi"},          {"vocab_size", 51200},
          {"hidden_size", 2560},          {"num_hidden_layers", 32},
          {"num_attention_heads", 32},    {"intermediate_size", 10240},
          {"partial_rotary_factor", 0.4}, {"max_position_embeddings", 2048}};
}

Json phi_3_mini() {
  return {{"model_type", "phi3"},      {"vocab_size", 32064},
          {"hidden_size", 3072},       {"num_hidden_layers", 32},
          {"num_attention_heads", 32}, {"num_key_value_heads", 32},
          {"intermediate_size", 8192}, {"max_position_embeddings", 4096},
          {"pad_token_id", 32000}};
}

Json qwen2_7b() {
  return {{"model_type", "qwen2"},       {"vocab_size", 152064},
          {"hidden_size", 3584},         {"num_hidden_layers", 28},
          {"num_attention_heads", 28},   {"num_key_value_heads", 4},
          {"intermediate_size", 18944},  {"max_position_embeddings", 32768},
          {"tie_word_embeddings", false}};
}

Json mixtral() {
  return {{"model_type", "mixtral"},          {"vocab_size", 32000},         {"hidden_size", 4096},
          {"num_hidden_layers", 32},          {"num_attention_heads", 32},   {"num_key_value_heads", 8},
          {"intermediate_size", 14336},       {"num_local_experts", 8},      {"num_experts_per_tok", 2},
          {"max_position_embeddings", 32768}, {"tie_word_embeddings", false}};
}

Json modernbert() {
  return {{"model_type", "modernbert"},     {"vocab_size", 50368},       {"hidden_size", 768},
          {"num_hidden_layers", 22},        {"num_attention_heads", 12}, {"intermediate_size", 1152},
          {"max_position_embeddings", 8192}};
}

Json t5_base() {
  return {{"model_type", "t5"},
          {"vocab_size", 32128},
          {"d_model", 768},
          {"d_kv", 64},
          {"d_ff", 3072},
          {"num_layers", 12},
          {"num_decoder_layers", 12},
          {"num_heads", 12},
          {"feed_forward_proj", "relu"},
          {"decoder_start_token_id", 0}};
}

std::vector<KnownConfig> make_known() {
  const std::string gated = "gated network", grouped = "gated network, keys shared by heads";
  const std::string twice = "decoder with two attentions per block";
  return {{"Transformer base", paper(6, 512, 8, 2048), false, twice},
          {"Transformer big", paper(6, 1024, 16, 4096), false, twice},
          {"BERT base", bert(12, 768, 12)},
          {"BERT large", bert(24, 1024, 16)},
          {"GPT-2", gpt(12, 768, 12, 1024)},
          {"GPT-2 XL", gpt(48, 1600, 25, 1024)},
          {"GPT-3 6.7B", gpt(32, 4096, 32, 2048, false)},
          {"Phi-2", phi_2()},
          {"GPT-3 175B", gpt(96, 12288, 96, 2048, false)},
          {"XLM-RoBERTa base", xlm_roberta(), true, "large vocabulary"},
          {"Falcon 7B", falcon_7b(), false, "one key for all heads"},
          {"Phi-3 mini", phi_3_mini(), false, gated},
          {"ModernBERT base", modernbert(), false, gated + " one and a half times as wide"},
          {"T5 base", t5_base(), false, twice},
          {"Mixtral 8x7B", mixtral(), false, grouped + ", eight networks per block"},
          {"Qwen2 7B", qwen2_7b(), false, grouped + ", large vocabulary"},
          {"Llama 2 7B", llama({32000, 32, 4096, 32, 32, 11008}), false, gated},
          {"Llama 3 8B", llama({128256, 32, 4096, 32, 8, 14336}), false, grouped},
          {"Llama 3.2 1B", llama({128256, 16, 2048, 32, 8, 8192, true}), false, grouped + ", large vocabulary"},
          {"Gemma 2B", gemma_2b(), false, grouped + ", large vocabulary"}};
}

}  // namespace

const std::vector<KnownConfig>& known_configs() {
  static const std::vector<KnownConfig> known = make_known();
  return known;
}

const KnownConfig& known_config(const std::string& name) {
  const auto& all = known_configs();
  const auto found = std::find_if(all.begin(), all.end(), [&](const KnownConfig& one) { return one.name == name; });
  check(found != all.end(), "[experiment] there is no known config \"{}\"", name);
  return *found;
}

}  // namespace limpid
