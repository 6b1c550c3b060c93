#pragma once
// What an intervention does: two passes over one text, with and without, compared position by position; and what the
// model writes with interventions in force at every token.

#include <span>
#include <vector>

#include "inspect/session.h"

namespace limpid {

// The natural logarithm of each token's probability.
std::vector<double> log_probabilities(const real* logits, int64_t count);

struct TokenEffect {
  int32_t token = 0;
  double logit_before = 0, logit_after = 0;
  double probability_before = 0, probability_after = 0;
  double logit_change() const { return logit_after - logit_before; }
};

struct PositionEffect {
  int64_t position = 0;
  double divergence = 0;                  // KL(before ‖ after) in nats
  int32_t top_before = 0, top_after = 0;  // the likeliest token
};

struct Effect {
  std::vector<PositionEffect> positions;
  std::vector<TokenEffect> tokens;  // at the chosen position: the watched ones, or the likeliest of both passes
  bool same_bits = true;            // the logits of both passes
};

struct EffectOptions {
  int64_t position = -1;              // of the tokens looked at
  std::vector<int32_t> watched = {};  // none: the likeliest before and after
  int64_t top = 5;                    // of each
  bool everywhere = true;             // false: `positions` of the effect is left empty
};

Effect compare_logits(ConstMatrix before, ConstMatrix after, const EffectOptions& options);

// The text that the model goes on with, the likeliest token each time; the example's interventions hold at every token
// as they stand. Encoder-decoder models write from the start. Ends with the end token (not given back), after `most`
// tokens, or where the model's positions end.
std::vector<int32_t> write_greedily(const Model& model, const Example& example, int64_t most, int32_t end);

}  // namespace limpid
