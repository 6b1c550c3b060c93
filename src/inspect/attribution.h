#pragma once
// Direct attribution: a logit as a sum of what every part wrote to the residual stream. The way from a part to the
// logit is linear once the scale of every norm is held at the value it had in the run, so the parts add up to the
// logit (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"). Works from the logit backwards: the
// direction in the stream that the logit reads, carried through norms and past each sub-layer.
//
// Post-norm models too: each norm scales what came before it. The head of an encoder (dense, activation, norm) is
// passed with its activation held at the ratio f(x)/x of the run. Recurrent models: state, context, embedding, bias.

#include <string>
#include <vector>

#include "inspect/session.h"

namespace limpid {

enum class PartKind { embedding, position, segment, head, feed_forward, neuron, bias, norm, state, context };
const char* part_name(PartKind kind);  // "embedding", "feed_forward", …

struct LogitPart {
  std::string name;  // "embed", "decoder.1.cross_attn.head2", "blocks.0.ffn.neuron17", "blocks.1.ffn.bias", …
  PartKind kind = PartKind::embedding;
  int64_t layer = -1;  // -1: in no block
  int64_t index = -1;  // of the head or neuron
  double value = 0;
};

struct Attribution {
  int64_t position = 0;
  int32_t token = 0;
  double logit = 0;              // of the run
  std::vector<LogitPart> parts;  // in the order of the forward pass
  double sum = 0;                // of the parts
  double error() const { return sum - logit; }
};

struct AttributionOptions {
  int64_t position = -1;  // negative: from the end
  int32_t token = 0;      // whose logit
  int32_t against = -1;   // attribute the difference to this token's logit instead; -1: none
  bool neurons = false;   // every neuron by itself instead of a feed-forward network as one
};

Attribution attribute_logit(const Model& model, const Example& example, const AttributionOptions& options);

}  // namespace limpid
