#pragma once
// What self-attention adds to the score of a query and a key by their distance (T5's learned buckets, ALiBi's slopes),
// as the model's own numbers give it.

#include <vector>

#include "models/model.h"

namespace limpid {

struct DistanceBias {
  int64_t heads = 0, farthest = 0;
  std::vector<real> values = {};  // (heads, 2·farthest + 1): the key `farthest` tokens behind the query comes first

  // Of a key that stands `distance` tokens before the query.
  real at(int64_t head, int64_t distance) const {
    return values[static_cast<size_t>(head * (2 * farthest + 1) + farthest + distance)];
  }
};

// Of a stack, its side as in stack_scope; without heads where the model adds nothing by distance.
DistanceBias distance_bias(const Model& model, const std::string& side, int64_t farthest);

}  // namespace limpid
