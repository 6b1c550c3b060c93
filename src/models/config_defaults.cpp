// What a config.json of Hugging Face may leave out or call by another name: sizes that are those of the family's class,
// and names that the class takes for its own (its attribute_map).

#include <string_view>
#include <utility>
#include <vector>

#include "models/config_steps.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using Sizes = std::vector<std::pair<std::string_view, int64_t>>;
using Aliases = std::vector<std::pair<std::string_view, std::string_view>>;

Sizes usual(int64_t vocab, int64_t width, int64_t layers, int64_t heads, int64_t ffn) {
  return {{"vocab_size", vocab},
          {"hidden_size", width},
          {"num_hidden_layers", layers},
          {"num_attention_heads", heads},
          {"intermediate_size", ffn}};
}

Sizes with(Sizes sizes, const Sizes& more) {
  sizes.insert(sizes.end(), more.begin(), more.end());
  return sizes;
}

Sizes bart_like(int64_t vocab) {
  return {{"vocab_size", vocab},           {"d_model", 1024},
          {"encoder_layers", 12},          {"encoder_ffn_dim", 4096},
          {"encoder_attention_heads", 16}, {"decoder_layers", 12},
          {"decoder_ffn_dim", 4096},       {"decoder_attention_heads", 16}};
}

// As configuration_<model_type>.py has them.
const std::vector<std::pair<std::string_view, Sizes>>& usual_sizes() {
  static const std::vector<std::pair<std::string_view, Sizes>> table = {
      {"bert", with(usual(30522, 768, 12, 12, 3072), {{"max_position_embeddings", 512}})},
      {"roberta", with(usual(50265, 768, 12, 12, 3072), {{"max_position_embeddings", 512}})},
      {"xlm-roberta", with(usual(30522, 768, 12, 12, 3072), {{"max_position_embeddings", 512}})},
      {"camembert", with(usual(30522, 768, 12, 12, 3072), {{"max_position_embeddings", 512}})},
      {"mpnet", with(usual(30527, 768, 12, 12, 3072), {{"max_position_embeddings", 512}})},
      {"distilbert",
       {{"vocab_size", 30522},
        {"dim", 768},
        {"n_layers", 6},
        {"n_heads", 12},
        {"hidden_dim", 3072},
        {"max_position_embeddings", 512}}},
      {"modernbert", with(usual(50368, 768, 22, 12, 1152), {{"max_position_embeddings", 8192}})},
      {"gpt2", {{"vocab_size", 50257}, {"n_positions", 1024}, {"n_embd", 768}, {"n_layer", 12}, {"n_head", 12}}},
      {"gptj", {{"vocab_size", 50400}, {"n_embd", 4096}, {"n_layer", 28}, {"n_head", 16}}},
      {"gpt_neo", {{"vocab_size", 50257}, {"hidden_size", 2048}, {"num_layers", 24}, {"num_heads", 16}}},
      {"gpt_neox", usual(50432, 6144, 44, 64, 24576)},
      {"opt",
       {{"vocab_size", 50272},
        {"hidden_size", 768},
        {"num_hidden_layers", 12},
        {"num_attention_heads", 12},
        {"ffn_dim", 3072}}},
      {"bloom", {{"vocab_size", 250880}, {"hidden_size", 64}, {"n_layer", 2}, {"n_head", 8}}},
      {"falcon",
       {{"vocab_size", 65024}, {"hidden_size", 4544}, {"num_hidden_layers", 32}, {"num_attention_heads", 71}}},
      {"llama", usual(32000, 4096, 32, 32, 11008)},
      {"mistral", usual(32000, 4096, 32, 32, 14336)},
      {"mixtral", usual(32000, 4096, 32, 32, 14336)},
      {"qwen2", usual(151936, 4096, 32, 32, 22016)},
      {"qwen2_moe", with(usual(151936, 2048, 24, 16, 5632),
                         {{"moe_intermediate_size", 1408}, {"shared_expert_intermediate_size", 5632}})},
      {"qwen3", usual(151936, 4096, 32, 32, 22016)},
      {"qwen3_moe", with(usual(151936, 2048, 24, 32, 6144), {{"moe_intermediate_size", 768}})},
      {"gemma", usual(256000, 3072, 28, 16, 24576)},
      {"gemma2", usual(256000, 2304, 26, 8, 9216)},
      {"gemma3_text", usual(262208, 2304, 26, 8, 9216)},
      {"phi", usual(51200, 2048, 24, 32, 8192)},
      {"phi3", usual(32064, 3072, 32, 32, 8192)},
      {"smollm3", usual(128256, 2048, 36, 16, 11008)},
      {"olmo", usual(50304, 4096, 32, 32, 11008)},
      {"olmo2", usual(50304, 4096, 32, 32, 11008)},
      {"granite", usual(32000, 4096, 32, 32, 11008)},
      {"starcoder2", usual(49152, 3072, 30, 24, 12288)},
      {"stablelm", usual(50304, 2560, 32, 32, 6912)},
      {"cohere", usual(256000, 8192, 40, 64, 22528)},
      {"marian", bart_like(58101)},
      {"pegasus", bart_like(50265)},
      {"bart", bart_like(50265)},
      {"mbart", bart_like(50265)},
      {"m2m_100", bart_like(128112)},
      {"t5",
       {{"vocab_size", 32128}, {"d_model", 512}, {"d_kv", 64}, {"d_ff", 2048}, {"num_layers", 6}, {"num_heads", 8}}},
      {"mt5",
       {{"vocab_size", 250112}, {"d_model", 512}, {"d_kv", 64}, {"d_ff", 1024}, {"num_layers", 8}, {"num_heads", 6}}}};
  return table;
}

// The general name, and the class's own.
const std::vector<std::pair<std::string_view, Aliases>>& aliases() {
  static const Aliases gpt = {{"hidden_size", "n_embd"},
                              {"max_position_embeddings", "n_positions"},
                              {"num_attention_heads", "n_head"},
                              {"num_hidden_layers", "n_layer"}};
  static const Aliases t5 = {{"hidden_size", "d_model"},
                             {"num_attention_heads", "num_heads"},
                             {"num_hidden_layers", "num_layers"},
                             {"head_dim", "d_kv"}};
  static const Aliases bart = {{"hidden_size", "d_model"}, {"num_attention_heads", "encoder_attention_heads"}};
  static const std::vector<std::pair<std::string_view, Aliases>> table = {
      {"gpt2", gpt},
      {"gptj", gpt},
      {"gpt_neo", {{"num_attention_heads", "num_heads"}, {"num_hidden_layers", "num_layers"}}},
      {"distilbert", {{"hidden_size", "dim"}, {"num_attention_heads", "n_heads"}, {"num_hidden_layers", "n_layers"}}},
      {"t5", t5},
      {"mt5", t5},
      {"bart", bart},
      {"mbart", bart},
      {"m2m_100", bart},
      {"marian", bart},
      {"pegasus", bart}};
  return table;
}

template <class Row>
const Row* row_of(const std::vector<std::pair<std::string_view, Row>>& table, const Json& json) {
  const auto type = json.is_object() ? json.find("model_type") : json.end();
  if (!json.is_object() || type == json.end() || !type->is_string()) return nullptr;
  for (const auto& [name, row] : table)
    if (*type == name) return &row;
  return nullptr;
}

}  // namespace

Json with_own_names(Json json) {
  const Aliases* names = row_of(aliases(), json);
  if (!names) return json;
  for (const auto& [general, own] : *names) {
    const auto found = json.find(std::string(general));
    if (found == json.end() || json.contains(std::string(own))) continue;
    json[std::string(own)] = *found;
    json.erase(std::string(general));
  }
  return json;
}

Json with_usual_sizes(Json json) {
  json = with_own_names(std::move(json));
  if (const Sizes* sizes = row_of(usual_sizes(), json))
    for (const auto& [key, size] : *sizes) {
      const bool older = (key == "n_layer" && json.contains("num_hidden_layers")) ||
                         (key == "n_head" && json.contains("num_attention_heads")) ||
                         (key == "hidden_size" && json.contains("n_embed")) ||
                         (key == "num_hidden_layers" && json.contains("n_layer")) ||
                         (key == "num_attention_heads" && json.contains("n_head"));
      if (!older && !json.contains(std::string(key))) json[std::string(key)] = size;
    }
  return json;
}

}  // namespace limpid
