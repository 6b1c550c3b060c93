#pragma once
// Embeddings: one vector for a text, made of the vectors that a model has for its tokens.

#include <span>
#include <string>
#include <vector>

#include "models/model.h"

namespace limpid {

// Over or of a text's tokens, special ones included: also the largest of each number, the sum divided by the root of
// their count, and the mean weighted by place (1, 2, 3, …).
enum class Pooling { mean, first, last, token, largest, root_mean, weighted };

// y = f(W·x + b) on the vector of a text; f is tanh, ReLU, GELU or none.
struct DenseLayer {
  int64_t outputs = 0, inputs = 0;
  std::vector<real> weight, bias;  // bias: empty where there is none
  Activation activation = Activation::none;
};

struct EmbeddingOptions {
  Pooling pooling = Pooling::mean;
  std::vector<Pooling> further = {};  // whose vectors are put behind that one's
  int64_t left_out = 0;               // so many tokens at the beginning count for Pooling::first and token alone
  int64_t token = 0;                  // of Pooling::token: which, from 0; negative: from the end, -1 the last
  // The value to take, by a tap's name (docs/taps.md): anything that has a row for every token of the text read, or one
  // for the text. Empty: the last vectors, those that the output layer or the decoder reads.
  std::string tap;
  std::vector<DenseLayer> dense;    // on the pooled vector
  bool normalize = false;           // to length 1, at last
  int64_t max_batch_tokens = 4096;  // bounds memory
};

// The tap of a layer's output, counted from 0; of models of two stacks the encoder's.
std::string layer_tap(const Config& config, int64_t layer);

// A vector for each text (ids as the model reads them). Of encoder-decoder models it is the encoder that reads.
std::vector<std::vector<real>> embed(const Model& model, std::span<const std::vector<int32_t>> texts,
                                     const EmbeddingOptions& options = {});

}  // namespace limpid
