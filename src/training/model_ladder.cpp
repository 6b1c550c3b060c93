#include "training/model_ladder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<Rung, 10> kLadder = {
    {{64, 2}, {128, 2}, {128, 3}, {128, 4}, {192, 3}, {256, 3}, {256, 4}, {384, 4}, {512, 6}, {768, 8}}};

bool has_two_stacks(const std::string& type) { return type == "marian" || type == "pegasus"; }

}  // namespace

bool has_ladder(const std::string& type) {
  constexpr std::string_view kUsual[] = {"marian", "pegasus", "gpt2", "llama", "bert", "rnn_seq2seq"};
  return std::find(std::begin(kUsual), std::end(kUsual), type) != std::end(kUsual);
}

std::span<const Rung> model_ladder() { return kLadder; }

RungSize rung_size(const std::string& type, const Rung& rung) {
  const double square = static_cast<double>(rung.width * rung.width), layers = static_cast<double>(rung.layers);
  if (has_two_stacks(type))
    return {12 * square * layers, 16 * square * layers};  // 4 per attention, 8 per feed-forward network
  if (type == "rnn_seq2seq") return {12 * square, 9 * square};
  return {0, 12 * square * layers};
}

Json rung_model(const std::string& type, const Rung& rung, int64_t positions, double dropout) {
  const int64_t width = rung.width, heads = rung.heads();
  if (has_two_stacks(type))
    return {{"model_type", type},
            {"d_model", width},
            {"encoder_layers", rung.layers},
            {"decoder_layers", rung.layers},
            {"encoder_attention_heads", heads},
            {"decoder_attention_heads", heads},
            {"encoder_ffn_dim", 4 * width},
            {"decoder_ffn_dim", 4 * width},
            {"activation_function", "relu"},
            {"scale_embedding", true},
            {"max_position_embeddings", positions},
            {"dropout", dropout}};
  if (type == "gpt2")
    return {{"model_type", type},    {"n_layer", rung.layers},   {"n_head", heads},
            {"n_embd", width},       {"n_positions", positions}, {"activation_function", "gelu_new"},
            {"embd_pdrop", dropout}, {"attn_pdrop", dropout},    {"resid_pdrop", dropout}};
  if (type == "llama")
    return {{"model_type", type},
            {"hidden_size", width},
            {"intermediate_size", (8 * width / 3 + 31) / 32 * 32},
            {"num_hidden_layers", rung.layers},
            {"num_attention_heads", heads},
            {"num_key_value_heads", heads},
            {"max_position_embeddings", positions},
            {"tie_word_embeddings", true},
            {"attention_dropout", dropout}};
  if (type == "bert")
    return {{"model_type", type},
            {"hidden_size", width},
            {"num_hidden_layers", rung.layers},
            {"num_attention_heads", heads},
            {"intermediate_size", 4 * width},
            {"max_position_embeddings", positions},
            {"type_vocab_size", 2},
            {"hidden_act", "gelu"},
            {"hidden_dropout_prob", dropout},
            {"attention_probs_dropout_prob", dropout}};
  if (type == "rnn_seq2seq")
    return {{"model_type", type},       {"cell", "gru"},           {"layers", 1},           {"embed_dim", width},
            {"hidden_size", 2 * width}, {"attention", "additive"}, {"bidirectional", true}, {"dropout", dropout}};
  fail(
      "[train] no size can be chosen for model_type {}: write a recipe, or take marian, pegasus, gpt2, llama, bert or "
      "rnn_seq2seq",
      type);
}

}  // namespace limpid
