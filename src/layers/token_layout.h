#pragma once
// Tokens: the ids of a ragged batch. TokenLayout: what layers know of the tokens they work on besides their vectors.

#include <cstdint>
#include <vector>

#include "tensor/sequences.h"
#include "tensor/tensor.h"

namespace limpid {

struct Tokens {
  std::vector<int32_t> ids;  // of all sequences, end to end
  Sequences sequences;

  static Tokens of(const std::vector<std::vector<int32_t>>& rows);
};

struct TokenLayout {
  Sequences sequences;
  std::vector<int32_t> positions;  // of each token within its sequence
  // What self-attention adds to scores by distance, (heads, distances) with this column for distance 0; empty: nothing.
  Tensor bias = {};
  int64_t bias_zero = 0;

  // Positions count on from those that each sequence has had before (none without `before`).
  static TokenLayout of(const Sequences& sequences, const std::vector<int64_t>& before = {});
};

}  // namespace limpid
