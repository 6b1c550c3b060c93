#pragma once
// Small models of every family and variant, for tests.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/random.h"
#include "models/model.h"

namespace limpid {

struct SmallModel {
  std::unique_ptr<Model> model;
  std::unique_ptr<Parameters> parameters;
  Batch batch;
};

// Configs by name; the names are those of tests.
inline std::map<std::string, nlohmann::ordered_json> small_configs() {
  using Json = nlohmann::ordered_json;
  const Json marian = {{"model_type", "marian"},
                       {"vocab_size", 23},
                       {"d_model", 12},
                       {"encoder_layers", 2},
                       {"decoder_layers", 2},
                       {"encoder_attention_heads", 3},
                       {"decoder_attention_heads", 3},
                       {"encoder_ffn_dim", 20},
                       {"decoder_ffn_dim", 20},
                       {"activation_function", "relu"},
                       {"scale_embedding", true},
                       {"max_position_embeddings", 32},
                       {"pad_token_id", 0},
                       {"eos_token_id", 2},
                       {"decoder_start_token_id", 0}};
  const Json gpt2 = {{"model_type", "gpt2"}, {"vocab_size", 23},  {"n_embd", 12},      {"n_layer", 2},
                     {"n_head", 3},          {"n_positions", 32}, {"bos_token_id", 0}, {"eos_token_id", 2}};
  const Json llama = {
      {"model_type", "llama"},  {"vocab_size", 23},         {"hidden_size", 16},        {"intermediate_size", 20},
      {"num_hidden_layers", 2}, {"num_attention_heads", 4}, {"num_key_value_heads", 2}, {"max_position_embeddings", 32},
      {"bos_token_id", 1},      {"eos_token_id", 2}};
  const Json bert = {{"model_type", "bert"},          {"vocab_size", 23},       {"hidden_size", 12},
                     {"intermediate_size", 20},       {"num_hidden_layers", 2}, {"num_attention_heads", 3},
                     {"max_position_embeddings", 32}, {"type_vocab_size", 2}};
  const Json rnn = {{"model_type", "rnn_seq2seq"},
                    {"vocab_size", 23},
                    {"embed_dim", 6},
                    {"hidden_size", 8},
                    {"cell", "gru"},
                    {"attention", "none"},
                    {"context", "initial"},
                    {"bidirectional", false},
                    {"layers", 1},
                    {"decoder_start_token_id", 1}};
  const Json t5 = {{"model_type", "t5"},
                   {"vocab_size", 23},
                   {"d_model", 12},
                   {"d_kv", 5},
                   {"d_ff", 20},
                   {"num_layers", 2},
                   {"num_heads", 3},
                   {"relative_attention_num_buckets", 6},
                   {"relative_attention_max_distance", 5}};
  const Json opt = {{"model_type", "opt"}, {"vocab_size", 23},       {"hidden_size", 12},
                    {"ffn_dim", 20},       {"num_hidden_layers", 2}, {"num_attention_heads", 3},
                    {"bos_token_id", 0},   {"eos_token_id", 2},      {"max_position_embeddings", 32}};
  const Json bloom = {{"model_type", "bloom"}, {"vocab_size", 23},  {"hidden_size", 12}, {"n_layer", 2},
                      {"n_head", 3},           {"bos_token_id", 0}, {"eos_token_id", 2}};
  const Json falcon = {{"model_type", "falcon"},       {"vocab_size", 23},         {"hidden_size", 16},
                       {"num_hidden_layers", 2},       {"num_attention_heads", 4}, {"num_kv_heads", 2},
                       {"ffn_hidden_size", 20},        {"bos_token_id", 0},        {"eos_token_id", 2},
                       {"max_position_embeddings", 32}};
  const Json distilbert = {{"model_type", "distilbert"},
                           {"vocab_size", 23},
                           {"dim", 12},
                           {"hidden_dim", 20},
                           {"n_layers", 2},
                           {"n_heads", 3},
                           {"max_position_embeddings", 32}};
  auto with = [](Json json, const Json& changes) {
    json.merge_patch(changes);
    return json;
  };
  auto limpid = [&](const Json& json, const Json& changes) { return with(json, {{"limpid", changes}}); };
  return {
      {"marian", marian},
      {"marian_untied", with(marian, {{"share_encoder_decoder_embeddings", false}, {"tie_word_embeddings", false}})},
      {"marian_interleaved", limpid(marian, {{"sinusoids", "interleaved"}})},
      {"marian_batch_norm", limpid(with(marian, {{"activation_function", "gelu"}}), {{"norm", "batch"}})},
      {"marian_no_residual", limpid(marian, {{"residual", false}})},
      {"marian_no_scale", limpid(marian, {{"scale_scores", false}})},
      {"marian_linear_ffn", limpid(marian, {{"activation", "none"}})},
      {"marian_no_positions", limpid(marian, {{"positions", "none"}})},
      {"pegasus",
       with(marian, {{"model_type", "pegasus"}, {"activation_function", "gelu"}, {"scale_embedding", false}})},
      {"pegasus_learned_gated", limpid(with(marian, {{"model_type", "pegasus"}}),
                                       {{"positions", "learned"}, {"activation", "silu"}, {"gated", true}})},
      {"gpt2", gpt2},
      {"gpt2_no_bias", limpid(gpt2, {{"bias", false}})},
      {"gpt2_rms_rotary", limpid(gpt2, {{"norm", "rms"}, {"positions", "rotary"}})},
      {"gpt2_attention_only", limpid(gpt2, {{"feed_forward", false}})},
      {"gpt2_post_norm", limpid(gpt2, {{"norm_place", "after"}, {"final_norm", false}})},
      {"llama", llama},
      {"llama_tied_bias", with(llama, {{"tie_word_embeddings", true}, {"attention_bias", true}, {"mlp_bias", true}})},
      {"llama_layer_gelu", limpid(llama, {{"norm", "layer"}, {"activation", "gelu"}, {"gated", false}})},
      {"bert", bert},
      {"bert_no_bias", limpid(bert, {{"bias", false}})},
      {"bert_labels", with(bert, {{"num_labels", 3}})},
      {"llama_linear", with(llama, {{"rope_scaling", {{"type", "linear"}, {"factor", 4.0}}}})},
      {"llama_dynamic",
       with(llama, {{"max_position_embeddings", 3}, {"rope_scaling", {{"rope_type", "dynamic"}, {"factor", 2.0}}}})},
      {"llama_yarn", with(llama, {{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}}}})},
      {"mistral", with(llama, {{"model_type", "mistral"}, {"sliding_window", 3}, {"head_dim", 6}})},
      {"qwen2", with(llama, {{"model_type", "qwen2"}})},
      {"qwen3", with(llama, {{"model_type", "qwen3"}, {"head_dim", 6}})},
      {"gemma", with(llama, {{"model_type", "gemma"}, {"head_dim", 6}})},
      {"gemma2", with(llama, {{"model_type", "gemma2"},
                              {"head_dim", 6},
                              {"sliding_window", 3},
                              {"attn_logit_softcapping", 2.0},
                              {"final_logit_softcapping", 3.0},
                              {"query_pre_attn_scalar", 5}})},
      {"gemma3", with(llama, {{"model_type", "gemma3_text"},
                              {"head_dim", 6},
                              {"sliding_window", 2},
                              {"sliding_window_pattern", 2},
                              {"rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}}}})},
      {"phi", with(llama, {{"model_type", "phi"}, {"num_key_value_heads", 4}})},
      {"phi_norms", with(llama, {{"model_type", "phi"}, {"num_key_value_heads", 4}, {"qk_layernorm", true}})},
      {"phi3",  // texts of more than three tokens are long
       with(llama, {{"model_type", "phi3"},
                    {"partial_rotary_factor", 0.5},
                    {"original_max_position_embeddings", 3},
                    {"rope_scaling", {{"type", "longrope"}, {"short_factor", {1.1}}, {"long_factor", {3.0}}}}})},
      {"smollm3", with(llama, {{"model_type", "smollm3"}, {"no_rope_layers", {1, 0}}})},
      {"olmo", with(llama, {{"model_type", "olmo"}, {"clip_qkv", 0.3}})},
      {"olmo2", with(llama, {{"model_type", "olmo2"}})},
      {"granite", with(llama, {{"model_type", "granite"},
                               {"embedding_multiplier", 3.0},
                               {"attention_multiplier", 0.3},
                               {"residual_multiplier", 0.6},
                               {"logits_scaling", 2.0}})},
      {"starcoder2", with(llama, {{"model_type", "starcoder2"}, {"sliding_window", 3}})},
      {"stablelm", with(llama, {{"model_type", "stablelm"}, {"use_qkv_bias", true}, {"partial_rotary_factor", 0.5}})},
      {"cohere", with(llama, {{"model_type", "cohere"}, {"logit_scale", 0.25}})},
      {"mixtral", with(llama, {{"model_type", "mixtral"}, {"num_local_experts", 4}})},
      {"qwen2_moe", with(llama, {{"model_type", "qwen2_moe"},
                                 {"num_experts", 4},
                                 {"num_experts_per_tok", 2},
                                 {"moe_intermediate_size", 6},
                                 {"shared_expert_intermediate_size", 8}})},
      {"qwen3_moe", with(llama, {{"model_type", "qwen3_moe"},
                                 {"num_experts", 4},
                                 {"num_experts_per_tok", 2},
                                 {"moe_intermediate_size", 6},
                                 {"norm_topk_prob", true}})},
      {"gpt2_by_layer", with(gpt2, {{"scale_attn_by_inverse_layer_idx", true}})},
      {"gptj", with(gpt2, {{"model_type", "gptj"}, {"rotary_dim", 2}})},
      {"gpt_neo",
       {{"model_type", "gpt_neo"},
        {"vocab_size", 23},
        {"hidden_size", 12},
        {"num_layers", 2},
        {"num_heads", 3},
        {"window_size", 2},
        {"bos_token_id", 0},
        {"eos_token_id", 2},
        {"max_position_embeddings", 32}}},
      {"gpt_neox", with(llama, {{"model_type", "gpt_neox"}, {"rotary_pct", 0.5}})},
      {"opt", opt},
      {"opt_projected", with(opt, {{"do_layer_norm_before", false}, {"word_embed_proj_dim", 8}})},
      {"bloom", bloom},
      {"falcon_grouped", with(falcon, {{"new_decoder_architecture", true}})},
      {"falcon_one_key", falcon},
      {"falcon_slopes",
       with(falcon, {{"multi_query", false}, {"alibi", true}, {"bias", true}, {"parallel_attn", false}})},
      {"bart", with(marian, {{"model_type", "bart"}})},
      {"bart_heads",
       with(marian, {{"model_type", "bart"}, {"decoder_attention_heads", 1}, {"activation_function", "gelu"}})},
      {"mbart", with(marian, {{"model_type", "mbart"}})},
      {"m2m_100", with(marian, {{"model_type", "m2m_100"}})},
      {"t5", t5},
      {"mt5", with(t5, {{"model_type", "mt5"}})},
      {"t5_gated", with(t5, {{"feed_forward_proj", "gated-gelu"}, {"tie_word_embeddings", false}})},
      {"roberta", with(bert, {{"model_type", "roberta"}, {"pad_token_id", 1}})},
      {"xlm_roberta", with(bert, {{"model_type", "xlm-roberta"}, {"pad_token_id", 1}})},
      {"camembert", with(bert, {{"model_type", "camembert"}, {"pad_token_id", 1}})},
      {"roberta_labels", with(bert, {{"model_type", "roberta"}, {"pad_token_id", 1}, {"num_labels", 3}})},
      {"distilbert", distilbert},
      {"distilbert_labels", with(distilbert, {{"num_labels", 3}})},
      {"mpnet", with(bert, {{"model_type", "mpnet"}, {"pad_token_id", 1}})},
      {"modernbert",
       {{"model_type", "modernbert"},
        {"vocab_size", 23},
        {"hidden_size", 12},
        {"intermediate_size", 20},
        {"num_hidden_layers", 4},
        {"num_attention_heads", 3},
        {"local_attention", 2},
        {"max_position_embeddings", 32}}},
      {"gru", rnn},
      {"gru_every_step", with(rnn, {{"context", "every_step"}})},
      {"gru_attention", with(rnn, {{"attention", "additive"}, {"bidirectional", true}, {"layers", 2}})},
      {"lstm", with(rnn, {{"cell", "lstm"}, {"layers", 2}})},
      {"lstm_reversed", with(rnn, {{"cell", "lstm"}, {"reverse_source", true}})},
      {"lstm_attention",
       with(rnn, {{"cell", "lstm"}, {"attention", "additive"}, {"bidirectional", true}, {"layers", 2}})},
  };
}

inline std::vector<std::string> small_config_names() {
  std::vector<std::string> names;
  for (const auto& [name, json] : small_configs()) names.push_back(name);
  return names;
}

// Names a parameterised test after its config.
inline std::string config_of_test(const testing::TestParamInfo<std::string>& test) { return test.param; }

inline std::vector<std::vector<int32_t>> random_rows(Random& random, std::initializer_list<int> lengths,
                                                     int64_t vocab) {
  std::vector<std::vector<int32_t>> rows;
  for (int length : lengths) {
    rows.emplace_back(length);
    for (int32_t& id : rows.back()) id = static_cast<int32_t>(random.below(vocab));
  }
  return rows;
}

// Sequences of different lengths, not in the order of length.
inline Batch small_batch(const Config& config, uint64_t seed = 1) {
  Random random(seed);
  if (config.continues_text()) return Batch::next_tokens(random_rows(random, {4, 7, 2}, config.vocab));
  if (config.has_source()) {
    const auto source = random_rows(random, {4, 6, 1}, config.vocab);
    return Batch::pairs(source, random_rows(random, {5, 2, 6}, config.vocab), 1);
  }
  if (!config.labels.empty())
    return Batch::masked(random_rows(random, {4, 6, 1}, config.vocab), {{2, -1, -1, -1}, {0, -1, -1, -1, -1, -1}, {1}});
  auto labels = random_rows(random, {4, 6, 1}, config.vocab);
  for (auto& row : labels)
    for (size_t i = 0; i < row.size(); i += 2) row[i] = -1;
  return Batch::masked(random_rows(random, {4, 6, 1}, config.vocab), labels);
}

inline SmallModel small_model(const nlohmann::ordered_json& json, uint64_t seed = 1) {
  SmallModel small;
  const Config config = parse_config(json);
  small.model = make_model(config);
  small.parameters =
      std::make_unique<Parameters>([&](const WeightVisitor& visitor) { small.model->visit_parameters(visitor); });
  small.parameters->initialize(seed);
  Random random(seed + 100);  // no weight stays at a special value; statistics stay, which must be positive
  for (const Weight& weight : small.parameters->weights())
    for (int64_t i = 0; weight.trainable && i < weight.size(); ++i)
      small.parameters->data(weight)[i] += static_cast<real>(0.2 * random.normal());
  small.batch = small_batch(config);
  return small;
}

}  // namespace limpid
