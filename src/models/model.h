#pragma once
// Model: what all families have in common. A forward pass from a batch of tokens to the vectors of the tokens to be
// predicted, and the output layer that turns those into scores or a loss.

#include <memory>

#include "layers/output.h"
#include "layers/stream.h"
#include "models/config.h"

namespace limpid {

// What a model reads and what it should say.
struct Batch {
  Tokens source;                // encoder-decoder models
  Tokens input;                 // the tokens read: of a decoder the right words, shifted by one
  std::vector<int32_t> labels;  // the right answer for each token of the input; -1: not scored

  static Batch pairs(const std::vector<std::vector<int32_t>>& source, const std::vector<std::vector<int32_t>>& target,
                     int32_t decoder_start);                                 // for models of two stacks
  static Batch next_tokens(const std::vector<std::vector<int32_t>>& texts);  // for language models
  // For encoders. One that classifies texts has the text's label at its first token and -1 at the others.
  static Batch masked(const std::vector<std::vector<int32_t>>& tokens, const std::vector<std::vector<int32_t>>& labels);
};

class Model {
 public:
  explicit Model(Config config) : config_(std::move(config)) {}
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Config& config() const { return config_; }

  // Every parameter once, in an order that keeps together what is used together. Serves initialisation, optimisers,
  // files, tables of parameters and reductions.
  virtual void visit_parameters(const WeightVisitor& visitor) = 0;

  // The last vectors of the tokens that are scored, (scored tokens, width), ready for the output layer.
  virtual Tensor forward(Run& run, const Batch& batch) const = 0;

  // From the vectors that a decoder's (or the one stack's) last block leaves to what the output layer reads: what
  // stands between them is applied to any layer's vectors to look at them as words.
  virtual Tensor finish(Run& run, const Tensor& x, const Sequences& rows) const = 0;

  // Of an encoder without an output layer they are an Error.
  Tensor logits(Run& run, const Batch& batch) const;
  Loss loss(Run& run, const Batch& batch, const LossOptions& options) const;
  const Output& output() const { return output_; }

 protected:
  // Leaves out the rows whose label is -1.
  Tensor scored(Run& run, const Tensor& x, const Batch& batch) const;
  // The scored tokens of each sequence: how the rows of features and logits are to be read.
  static Sequences scored_rows(const Batch& batch);
  void check_output() const;

  Config config_;
  Output output_;
};

std::unique_ptr<Model> make_model(const Config& config);

}  // namespace limpid
