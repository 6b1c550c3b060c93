#pragma once
// Model: what all families have in common. A forward pass from a batch of tokens to the vectors of the tokens to be
// predicted, and the output layer that turns those into scores or a loss.

#include <memory>
#include <optional>

#include "layers/output.h"
#include "layers/token_layout.h"
#include "models/config.h"

namespace limpid {

// What a model reads and what it should say.
struct Batch {
  Tokens source;                // encoder-decoder models
  Tokens input;                 // the tokens read: of a decoder the right words, shifted by one
  std::vector<int32_t> labels;  // the right answer for each token of the input; -1: none. Only the loss reads them

  static Batch pairs(const std::vector<std::vector<int32_t>>& source, const std::vector<std::vector<int32_t>>& target,
                     int32_t decoder_start);                                 // for models of two stacks
  static Batch next_tokens(const std::vector<std::vector<int32_t>>& texts);  // for language models
  // For encoders. One that classifies texts has the text's label at its first token and -1 at the others.
  static Batch masked(const std::vector<std::vector<int32_t>>& tokens, const std::vector<std::vector<int32_t>>& labels);
};

// The tokens of a batch's input whose last vectors a pass gives: all of them, or some.
class TokenChoice {
 public:
  static TokenChoice all() { return {}; }
  static TokenChoice of(std::vector<int32_t> tokens);         // in rising order, counted through the whole batch
  static TokenChoice labelled(const Batch& batch);            // those whose label is not -1
  static TokenChoice first_of_each(const Sequences& tokens);  // where a text is classified

  bool holds(int64_t token) const;
  // The chosen tokens of each sequence: how the rows that a pass gives are to be read.
  Sequences sequences(const Sequences& tokens) const;
  Tensor rows_of(Run& run, const Tensor& x) const;

 private:
  std::optional<std::vector<int32_t>> tokens_;  // none: all
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
  // The same, to look at.
  void each_parameter(const std::function<void(const Weight&)>& use) const;

  // What the weights point into, a mapped file for instance, lives as long as the model.
  void keep(std::shared_ptr<const void> numbers) { kept_.push_back(std::move(numbers)); }
  // A model of the same weights, where they lie and as they are packed: nothing of size is copied. A weight of it can
  // be pointed elsewhere, and this one does not notice: so one request has weights of its own.
  std::unique_ptr<Model> sharing_weights() const;

  // The last vectors of the chosen tokens, (chosen tokens, width), ready for the output layer. Labels are not looked
  // at.
  virtual Tensor forward(Run& run, const Batch& batch, const TokenChoice& choice) const = 0;
  // From the vectors that a decoder's (or the one stack's) last block leaves to what the output layer reads: what
  // stands between them is applied to any layer's vectors to look at them as words.
  virtual Tensor finish(Run& run, const Tensor& x, const Sequences& rows) const = 0;

  // Of an encoder without an output layer they are an Error.
  Tensor logits(Run& run, const Batch& batch, const TokenChoice& choice) const;
  Tensor logits(Run& run, const Batch& batch) const { return logits(run, batch, TokenChoice::labelled(batch)); }
  // Of the tokens that have a label.
  Loss loss(Run& run, const Batch& batch, const LossOptions& options) const;
  const Output& output() const { return output_; }

 protected:
  void check_output() const;

  Config config_;
  Output output_;

 private:
  std::vector<std::shared_ptr<const void>> kept_;
};

std::unique_ptr<Model> make_model(const Config& config);

}  // namespace limpid
