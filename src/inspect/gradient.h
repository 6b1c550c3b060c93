#pragma once
// Gradients: how a chosen output changes with every number at a tap. One pass forward with a tape, one back; weights
// take no part. Several taps at once: each gradient goes through those above it, none cuts another's way.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "inspect/tap_rows.h"

namespace limpid {

// The number whose gradient is wanted.
struct Objective {
  enum class Kind {
    logit,            // of `token` at `position`
    difference,       // that less the logit of `against`
    log_probability,  // of `token` at `position`
    loss,             // the mean of -log p over all positions whose next token the text says
  };
  Kind kind = Kind::logit;
  int64_t position = -1;  // negative: from the end
  int32_t token = 0, against = -1;
};

// Its value, and where asked for its derivative by the logits, (positions, vocabulary).
double objective_value(const Objective& objective, const Example& example, ConstMatrix logits,
                       Matrix* derivative = nullptr);

struct TapGradient {
  TapValues values, gradient;  // of equal shapes

  // Gradient × value summed over a position's features (of pairs: over heads and keys): what the objective would lose
  // to first order if they were zero.
  double at_position(int64_t position) const;
  double length(int64_t position) const;  // of the gradient
};

struct TapGradients {
  double value = 0;                // of the objective
  std::vector<std::string> names;  // in the order in which they fire
  std::map<std::string, TapGradient> taps;
};

// `taps`: names, no patterns. `progress` is told the share done, 0 … 1, at each of them on the way there and back; it
// may throw where nobody wants the gradients any more.
TapGradients tap_gradients(const Model& model, const Example& example, const Objective& objective,
                           const std::vector<std::string>& taps, const std::function<void(double)>& progress = {});

// For probes: passes a tap's value on and has the tape call `keep` with the gradient that comes back to it. Makes a
// gradient flow where nothing below wants one.
Tensor watch_gradient(Run& run, const Tensor& value, std::function<void(ConstMatrix)> keep);

}  // namespace limpid
