#pragma once
// The parts of a model in the order of the forward pass, as a map draws them: what each is, its weights and its taps.

#include <optional>
#include <string>
#include <vector>

#include "inspect/tap_names.h"

namespace limpid {

struct ModelPart {
  std::string id;     // "encoder.0.self_attn", "blocks.3.ffn", "embed", "output"
  std::string kind;   // embedding, position, segment, norm, self_attention, cross_attention, feed_forward, recurrent,
                      // alignment, pooler, output
  std::string stack;  // "encoder", "decoder"; "": of none
  int64_t layer = -1;
  int64_t parameters = 0;
  std::vector<int64_t> shape = {};  // of its largest weight
  std::vector<std::string> weights = {}, taps = {};
  std::string tied_to = {};  // an output whose matrix is the embedding's
};

std::vector<ModelPart> model_parts(const Model& model);

// The part that a weight belongs to.
std::string part_of_weight(const Config& config, const Weight& weight);

}  // namespace limpid
