#pragma once
// The likeliest tokens of each row of scores, with their log-probabilities: softmax and choice in one pass.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/matrix.h"

namespace limpid {

struct TokenScore {
  int32_t id = -1;  // -1: there are fewer tokens than asked for
  real log_probability = 0;
};

struct TopTokens {
  int64_t count = 0;             // of each row
  std::vector<TokenScore> best;  // row by row, likeliest first, of equals the lower id

  std::span<const TokenScore> row(int64_t i) const { return {best.data() + i * count, static_cast<size_t>(count)}; }
};

struct TopOptions {
  int64_t count = 1;
  std::vector<int32_t> never;  // ids that are not to be chosen; their share of probability stays theirs
  // log Σ eˣ of the model's own scores, where rules have changed the scores since: some may be -∞ then, which are never
  // chosen. Or 0, where the scores as they are will do: nothing is summed then.
  std::optional<real> log_sum = {};
};

// Rows are independent of each other. A row that holds a NaN is an Error.
TopTokens top_tokens(ConstMatrix logits, const TopOptions& options);

// log Σ eˣ of a row, with the bits that top_tokens takes.
real log_sum(std::span<const real> scores);

}  // namespace limpid
