#pragma once
// Alignment: where an encoder-decoder model looks in the source while it writes each token of a target.

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/model.h"

namespace limpid {

struct AlignmentOptions {
  std::optional<int64_t> layer, head;  // of the decoder's cross-attention, from 0; none: the mean over all of them
};

// By target token, then source token, both with their end tokens: rows sum to one.
using Alignment = std::vector<std::vector<double>>;

// For pairs of a source and a target, both with their end tokens. Recurrent models have one layer and head, their
// additive attention. Throws for a model without attention over the source.
std::vector<Alignment> align(const Model& model, std::span<const std::vector<int32_t>> sources,
                             std::span<const std::vector<int32_t>> targets, const AlignmentOptions& options = {});

// (source, target) for every target token and the source token it looks at most; without the end tokens.
std::vector<std::pair<int64_t, int64_t>> hard_links(const Alignment& alignment);

}  // namespace limpid
