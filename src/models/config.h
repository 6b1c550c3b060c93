#pragma once
// Config: what a model is, read from the Hugging Face config.json of its family. What no Hugging Face config can say
// stands in one object "limpid" in the same file, and such a model says that only Limpid opens it.

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "layers/recurrent.h"

namespace limpid {

enum class Family { seq2seq, language_model, encoder, rnn_seq2seq };
enum class NormPlace { before, after };  // of the sub-layer: pre-norm, post-norm
enum class PositionKind { none, sinusoidal, learned, rotary };
enum class SinusoidLayout { halves, interleaved };        // sines then cosines, or the paper's alternation
enum class ContextUse { initial, every_step, additive };  // what an RNN decoder sees of the source

struct StackConfig {
  int64_t layers = 0;
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t ffn = 0;  // features of the feed-forward network
};

struct DropoutConfig {
  double embedding = 0;   // on embedding + position
  double attention = 0;   // on the pattern
  double activation = 0;  // on the feed-forward network's activations
  double residual = 0;    // on a sub-layer's output (RNN: between layers)
  double classifier = 0;  // on the vector that a text is classified by
};

struct RnnConfig {
  CellKind cell = CellKind::gru;
  ContextUse context = ContextUse::initial;
  bool bidirectional = false;
  bool reverse_source = false;  // the encoder reads from the end: its last states have just seen the first words
  int64_t layers = 1;
  int64_t embed = 0;
  int64_t hidden = 0;
};

struct Config {
  Family family = Family::language_model;
  std::string model_type;  // "marian", "pegasus", "gpt2", "llama", "bert", "rnn_seq2seq"

  int64_t vocab = 0;
  int64_t width = 0;             // d_model
  int64_t head_size = 0;         // d_k
  StackConfig encoder, decoder;  // a model of one stack has the one that its family names (language model: decoder)
  int64_t max_positions = 0;
  int64_t token_types = 0;  // BERT
  // Of an encoder that classifies texts, in the order of their ids. None: it guesses masked tokens.
  std::vector<std::string> labels;

  NormKind norm = NormKind::layer;
  NormPlace norm_place = NormPlace::before;
  real norm_eps = static_cast<real>(1e-5);
  bool norm_bias = true;
  bool embedding_norm = false;  // BERT normalises the sum of embeddings
  bool final_norm = true;       // after the last block; post-norm models have none

  PositionKind positions = PositionKind::learned;
  SinusoidLayout sinusoids = SinusoidLayout::halves;
  real rope_theta = 10000;

  Activation activation = Activation::gelu_tanh;
  bool gated = false;        // gate, up and down projections
  bool feed_forward = true;  // false: attention-only
  bool residual = true;
  bool scale_scores = true;    // by 1/√d_k
  bool causal = true;          // of a decoder's self-attention: false only to show why the mask is there
  bool attention_bias = true;  // of query, key, value and output projections
  bool ffn_bias = true;
  bool output_bias = false;
  WeightLayout layout = WeightLayout::out_in;
  bool fused_qkv = false;  // GPT-2 stores query, key and value as one matrix

  bool scale_embedding = false;        // by √d_model
  bool tie_output = true;              // the output projection is the (target) embedding
  bool share_source_embedding = true;  // encoder-decoder: one embedding for both sides

  DropoutConfig dropout;
  RnnConfig rnn;
  double initializer_range = 0.02;

  std::optional<int64_t> pad_token, bos_token, eos_token, decoder_start_token, mask_token;

  std::vector<std::string> notes;  // what was ignored, for people to read
  bool only_limpid = false;        // uses something no other program knows
  nlohmann::ordered_json json;     // as read: what is written beside a trained model

  const StackConfig& stack() const { return family == Family::encoder ? encoder : decoder; }  // of a model of one stack
};

// Throws Error naming the field and what is allowed where the config is contradictory or asks for what is not
// supported.
Config parse_config(const nlohmann::ordered_json& json);
Config load_config(const std::string& path);  // a config.json, or a folder that holds one

}  // namespace limpid
