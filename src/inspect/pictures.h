#pragma once
// Pictures of one pass: the four matrices of a block, any tap, a grid of all heads.

#include "inspect/heatmap.h"
#include "inspect/session.h"

namespace limpid {

struct BlockPictureOptions {
  std::string side;  // of two-sided models: "encoder" or "decoder" (default)
  int64_t block = 0;
  int64_t head = -1;                // of attention; -1: the mean of all (one position: every head is a row)
  std::optional<int64_t> position;  // one token, its vectors folded into rows; negative: from the end. None: all tokens
  bool cross = false;               // cross-attention instead of self-attention
  bool pattern = false;             // after the softmax instead of the scores
};

// Attention scores (after the mask), up-projection, activation, down-projection; of a mixture of experts, instead of
// the two in the middle, the scores of its experts and the shares of those chosen.
Picture block_picture(const Session& session, const Example& example, const BlockPictureOptions& options);

// Every head of the attention patterns that match, one map each, one scale: a row per layer. Own or TransformerLens'
// names; empty: all self-attention of the stack that writes.
Picture head_grid(const Session& session, const Example& example, const std::string& pattern);

// The taps that a name or pattern means, each as it is: (tokens, features), or (queries, keys) of every head. Of one
// head, where it is named: its pairs, or its columns of what has heads side by side (queries, keys, values).
Picture tap_picture(const Session& session, const Example& example, const std::string& pattern, int64_t head = -1);

}  // namespace limpid
