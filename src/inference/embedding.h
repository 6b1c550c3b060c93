#pragma once
// Embeddings: one vector for a text, made of the vectors that a model has for its tokens.

#include <span>
#include <string>
#include <vector>

#include "models/model.h"

namespace limpid {

enum class Pooling { mean, first, last, token };  // over or of a text's tokens, special ones included

struct EmbeddingOptions {
  Pooling pooling = Pooling::mean;
  int64_t token = 0;  // of Pooling::token: which, from 0; negative: from the end, -1 the last
  // The value to take, by a tap's name (docs/taps.md): anything that has a row for every token of the text read, or one
  // for the text. Empty: the last vectors, those that the output layer or the decoder reads.
  std::string tap;
  bool normalize = false;         // to length 1
  int64_t tokens_at_once = 4096;  // bounds memory
};

// The tap of a layer's output, counted from 0; of models of two stacks the encoder's.
std::string layer_tap(const Config& config, int64_t layer);

// A vector for each text (ids as the model reads them). Of encoder-decoder models it is the encoder that reads.
std::vector<std::vector<real>> embed(const Model& model, std::span<const std::vector<int32_t>> texts,
                                     const EmbeddingOptions& options = {});

}  // namespace limpid
