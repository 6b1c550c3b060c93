#pragma once
// Logit lens (nostalgebraist 2020): what the model would say if it stopped after each layer. The residual stream of
// every layer and position goes through the last norm and the output layer; at the last layer this is the model's own
// answer. Recurrent models: each layer's state takes the place of the top one's.

#include <string>
#include <vector>

#include "inspect/session.h"

namespace limpid {

struct LensToken {
  int32_t id = 0;
  double probability = 0;
};

struct LensCell {
  std::vector<LensToken> top;  // likeliest first
  int32_t watched = -1;        // the chosen token; -1: none at this position
  int64_t rank = 0;            // of the watched token, from 1
  double probability = 0;      // of the watched token
  double logit = 0;
  double entropy = 0;  // of the whole distribution, in bits
};

struct LensTable {
  std::vector<std::string> layers;   // names of the taps read, first to last
  int64_t first = 0, positions = 0;  // the first of so many
  std::vector<LensCell> cells;       // (layers, positions)

  // Of the position so many behind the first.
  const LensCell& at(int64_t layer, int64_t position) const { return cells[layer * positions + position]; }
};

struct LensOptions {
  int64_t top = 3;
  int32_t watched = -1;          // at every position; -1: the token that comes next in the text
  int64_t first = 0, last = -1;  // positions; a last of -1: to the end
};

LensTable logit_lens(const Model& model, const Example& example, const LensOptions& options);

// The logits of one layer's vectors as the lens sees them, (positions, vocabulary); layer as in LensTable::layers.
std::vector<std::string> lens_layers(const Config& config);
Tensor lens_logits(const Model& model, const Example& example, const std::string& layer);

}  // namespace limpid
