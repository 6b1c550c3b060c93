#pragma once
// The feed-forward network as questions and answers (Geva et al. 2021): a row of the up-projection asks a question of
// a token's vector, and where the answer is yes a column of the down-projection is added to the residual stream.
// Both are read as tokens: the question by the embeddings that answer it most, the answer by what it adds to each
// token's logit.

#include <optional>
#include <span>

#include "inspect/row_products.h"
#include "inspect/weights.h"

namespace limpid {

struct WeightedToken {
  int32_t id = 0;
  double value = 0;
};

struct NeuronReading {
  int64_t block = 0, neuron = 0;
  std::vector<WeightedToken> asked;  // tokens whose embeddings, normalised as the network reads them, ask loudest
  std::vector<WeightedToken> promoted, demoted;   // by its answer through the output layer, strongest first
  double question_length = 0, answer_length = 0;  // of the two vectors
};

// What a direction in the residual stream, written by a block, does to the logits: the tokens that it promotes and
// demotes. It passes the last norm's gain (post-norm: its block's), not its scale. In the encoder of a two-sided model,
// which has no output layer, directions are read by the embeddings of the source.
struct SaidTokens {
  std::vector<WeightedToken> promoted, demoted;  // strongest first
};
class DirectionReader {
 public:
  DirectionReader(const Model& model, const std::string& side, int64_t block);

  int64_t width() const { return width_; }
  SaidTokens read(const std::vector<double>& direction, int64_t tokens) const;
  // Of several at once: the table of the vocabulary is gone through once for all of them.
  std::vector<SaidTokens> read(const std::vector<std::vector<double>>& directions, int64_t tokens) const;

 private:
  NormWeights norm_;
  bool has_norm_ = false;
  Weight unembedding_;
  std::optional<Projection> narrowing_;  // where the output layer reads fewer numbers than the stream has
  int64_t width_ = 0;                    // of the stream
};

// What a neuron did at a position: how much it fired and how long the vector was that it wrote.
struct FiredNeuron {
  int64_t neuron = 0;
  double activation = 0;
  double written = 0;  // |activation|·|column|
};

// One block's feed-forward network with the tables it is read by. Gated networks: the question is the gate's row.
class NeuronReader {
 public:
  NeuronReader(const Model& model, const std::string& side, int64_t block);

  int64_t count() const { return down_.inputs; }
  const std::string& tap() const { return tap_; }  // where the activations are: "blocks.3.ffn.post"
  NeuronReading read(int64_t neuron, int64_t tokens) const;
  std::vector<NeuronReading> read(std::span<const int64_t> neurons, int64_t tokens) const;
  // What a combination of neurons, one number each, writes into the residual stream.
  std::vector<double> written(std::span<const real> activations) const;
  // The neurons that wrote most at a position of the stack's text.
  std::vector<FiredNeuron> fired(const Example& example, int64_t position, int64_t wanted) const;

 private:
  std::vector<double> column(int64_t neuron) const;
  RowsOfReals asked_of_tokens(std::span<const int64_t> neurons) const;

  const Model& model_;
  int64_t block_;
  std::string tap_;
  Projection question_, down_;
  NormWeights read_norm_;
  DirectionReader direction_;
  Weight embedding_;
  std::optional<Projection> widening_;  // where embeddings are narrower than the stream
};

}  // namespace limpid
