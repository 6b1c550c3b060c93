#pragma once
// Config: what a model is, read from the Hugging Face config.json of its family. What no Hugging Face config can say
// stands in one object "limpid" in the same file, and such a model says that only Limpid opens it.

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "layers/norm.h"
#include "layers/positions.h"
#include "layers/recurrent.h"
#include "layers/rope.h"

namespace limpid {

enum class Family { seq2seq, language_model, encoder, rnn_seq2seq };
// Of a sub-layer f: x + f(norm(x)), norm(x + f(x)), x + norm(f(x)), x + norm'(f(norm(x))).
enum class NormPlace { before, after, output, both };
enum class PositionKind { none, sinusoidal, learned, rotary };
enum class RelativeKind { none, buckets, slopes };  // what is added to scores by distance: T5's, ALiBi's
// What an encoder ends in: guesses of masked tokens, a label of the text, a vector of the text, or nothing.
enum class HeadKind { words, labels, pooler, none };
enum class QueryKeyNorm { none, each_head, all_heads };
// How query, key and value stand in the file where they are one matrix: one after another, or those of a head of keys
// (with the queries that look at it) together.
enum class FusedLayout { parts, heads };
enum class ContextUse { initial, every_step, additive };  // what an RNN decoder sees of the source

struct StackConfig {
  int64_t layers = 0;
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t ffn = 0;        // features of the feed-forward network
  int64_t head_size = 0;  // where heads of two stacks differ in it; 0: the model's
};

// What differs from layer to layer of a stack.
struct LayerConfig {
  enum class Rope { usual, local, none };
  int64_t window = 0;  // of self-attention: keys nearer than this are seen; 0: all
  Rope rope = Rope::usual;
};

// Feed-forward networks of which a token takes the few that a router finds best (Shazeer et al. 2017).
struct ExpertConfig {
  int64_t count = 0;   // 0: one feed-forward network as usual
  int64_t chosen = 0;  // for each token
  int64_t features = 0;
  bool normalize = true;  // the shares of the chosen ones add up to one
  int64_t shared = 0;     // features of one that every token takes besides, under a gate of its own; 0: none
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
  std::string model_type;  // Hugging Face's: "marian", "llama", "bert", …
  std::string names;       // of parameters: a row of models/names.h; usually the model_type

  int64_t vocab = 0;
  int64_t width = 0;             // d_model
  int64_t head_size = 0;         // d_k; head_size_of(stack)
  StackConfig encoder, decoder;  // a model of one stack has the one that its family names (language model: decoder)
  int64_t embed_width = 0;       // of token vectors, where they are projected to the width and back; 0: no projection
  int64_t max_positions = 0;
  int64_t position_offset = 0;                    // rows of the table of positions before that of the first token
  int64_t token_types = 0;                        // BERT
  HeadKind head = HeadKind::words;                // of an encoder
  Activation head_activation = Activation::gelu;  // behind its dense layer
  std::vector<std::string> labels;  // of an encoder that classifies texts, in the order of their ids; else none

  NormKind norm = NormKind::layer;
  NormPlace norm_place = NormPlace::before;
  real norm_eps = static_cast<real>(1e-5);
  bool norm_bias = true;
  bool norm_gain = true;          // false: norms have no weights
  real norm_offset = 0;           // is added to gains: Gemma's are 1 + w
  bool embedding_norm = false;    // BERT normalises the sum of embeddings
  bool first_norm = true;         // false: the first block's attention reads its input as it is (ModernBERT)
  bool final_norm = true;         // after the last block; post-norm models have none
  bool parallel = false;          // attention and feed-forward network read the same vector
  bool parallel_one_norm = true;  // and by one norm, or each by its own

  PositionKind positions = PositionKind::learned;
  SinusoidLayout sinusoids = SinusoidLayout::halves;
  RopeConfig rope, local_rope;
  std::vector<LayerConfig> layers;  // of self-attention; none: all as LayerConfig is
  RelativeKind relative = RelativeKind::none;
  int64_t relative_buckets = 0, relative_distance = 0;  // buckets, and the distance from which on the last one serves
  bool slopes_scaled = false;                           // by the scale of scores (Falcon)

  Activation activation = Activation::gelu_tanh;
  bool gated = false;        // gate, up and down projections
  bool feed_forward = true;  // false: attention-only
  bool residual = true;
  bool scale_scores = true;     // by 1/√d_k
  double attention_scale = 0;   // instead of 1/√d_k; 0: that
  bool scale_by_layer = false;  // also by 1/(number of the layer, from 1)
  real attention_cap = 0;       // of scores; 0: none
  real clip_qkv = 0;            // queries, keys and values lie within ± this; 0: anywhere
  QueryKeyNorm qk_norm = QueryKeyNorm::none;
  bool causal = true;                 // of a decoder's self-attention: false only to show why the mask is there
  bool attention_bias = true;         // of query, key and value projections
  bool attention_output_bias = true;  // of the projection back
  bool ffn_bias = true;
  bool output_bias = false;
  bool head_bias = true;  // of the dense layer in an encoder's head
  WeightLayout layout = WeightLayout::out_in;
  FusedLayout fused_layout = FusedLayout::parts;
  bool fused_gate = false;  // gate and up-projection are one matrix
  ExpertConfig experts;

  bool scale_embedding = false;  // by √d_model
  real embedding_factor = 1;     // on token vectors, besides
  real residual_factor = 1;      // on a sub-layer's output before it joins the residual stream
  real logit_factor = 1;
  real logit_cap = 0;                  // of logits; 0: none
  bool tie_output = true;              // the output projection is the (target) embedding
  bool share_source_embedding = true;  // encoder-decoder: one embedding for both sides

  DropoutConfig dropout;
  RnnConfig rnn;
  double initializer_range = 0.02;

  std::optional<int64_t> pad_token, bos_token, eos_token, decoder_start_token, mask_token;

  std::vector<std::string> notes;  // what was ignored, for people to read
  bool only_limpid = false;        // uses something no other program knows
  nlohmann::ordered_json json;     // as read: what is written beside a trained model

  int64_t head_size_of(const StackConfig& one) const { return one.head_size > 0 ? one.head_size : head_size; }
  const StackConfig& stack() const { return family == Family::encoder ? encoder : decoder; }  // of a model of one stack
  LayerConfig layer(int64_t index) const {
    return index < static_cast<int64_t>(layers.size()) ? layers[index] : LayerConfig{};
  }
  NormOptions norm_options() const { return {norm, norm_eps, norm_bias, norm_gain, norm_offset}; }

  // What a model of this kind can do, so that nobody need ask for its family.
  bool has_source() const { return family == Family::seq2seq || family == Family::rnn_seq2seq; }
  bool writes() const { return family != Family::encoder; }
  bool cross_attention() const { return family == Family::seq2seq; }  // in the blocks of its decoder
  bool recurrent() const { return family == Family::rnn_seq2seq; }
  bool continues_text() const { return family == Family::language_model; }
  bool guesses_words() const { return family == Family::encoder && head == HeadKind::words; }
  bool classifies() const { return family == Family::encoder && head == HeadKind::labels; }
  bool has_output() const { return family != Family::encoder || guesses_words() || classifies(); }
};

// Throws Error naming the field and what is allowed where the config is contradictory or asks for what is not
// supported.
Config parse_config(const nlohmann::ordered_json& json);
Config load_config(const std::string& path);  // a config.json, or a folder that holds one

}  // namespace limpid
