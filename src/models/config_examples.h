#pragma once
// Configs for tests: the least that each family takes, and what files of well-known models say in full.

#include <nlohmann/json.hpp>

#include <functional>
#include <string>

#include "base/error.h"
#include "models/config.h"

namespace limpid::examples {

using Json = nlohmann::ordered_json;

inline Json least(const std::string& model_type) {
  if (model_type == "gpt2")
    return Json::parse(
        R"({"model_type": "gpt2", "vocab_size": 61, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32})");
  if (model_type == "llama")
    return Json::parse(R"({"model_type": "llama", "vocab_size": 67, "hidden_size": 32, "intermediate_size": 80,
                           "num_hidden_layers": 2, "num_attention_heads": 4})");
  if (model_type == "bert")
    return Json::parse(R"({"model_type": "bert", "vocab_size": 53, "hidden_size": 16, "intermediate_size": 48,
                           "num_hidden_layers": 3, "num_attention_heads": 2, "max_position_embeddings": 32})");
  if (model_type == "rnn_seq2seq")
    return Json::parse(
        R"({"model_type": "rnn_seq2seq", "vocab_size": 47, "embed_dim": 12, "hidden_size": 20, "layers": 2,
                           "cell": "lstm", "decoder_start_token_id": 1})");
  Json json = Json::parse(R"({"vocab_size": 57, "d_model": 16, "encoder_layers": 2, "decoder_layers": 3,
                              "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 24,
                              "decoder_ffn_dim": 40, "decoder_start_token_id": 0})");
  json["model_type"] = model_type;  // marian or pegasus
  return json;
}

// The least of a family with some keys set.
inline Json with(const std::string& model_type, const char* keys) {
  Json json = least(model_type);
  json.update(Json::parse(keys));
  return json;
}

inline Config parsed(const std::string& model_type, const char* keys = "{}") {
  return parse_config(with(model_type, keys));
}

// The text of the Error that `action` throws; "" if it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline std::string error_of(const std::string& model_type, const char* keys) {
  return error_of([&] { parsed(model_type, keys); });
}

}  // namespace limpid::examples
