#pragma once
// How GGUF says what makes one vector of a text's.

#include "inference/embedding.h"

namespace limpid {

// GGUF's number; 0: it has none for this.
constexpr int gguf_pooling(Pooling pooling) {
  return pooling == Pooling::mean ? 1 : pooling == Pooling::first ? 2 : pooling == Pooling::last ? 3 : 0;
}
// It has no number for several ways at once.
inline int gguf_pooling(const EmbeddingOptions& options) {
  return options.further.empty() ? gguf_pooling(options.pooling) : 0;
}
constexpr Pooling pooling_of_gguf(int64_t number) {
  return number == 2 ? Pooling::first : number == 3 ? Pooling::last : Pooling::mean;
}

}  // namespace limpid
