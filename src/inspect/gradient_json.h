#pragma once
// Gradients as JSON, as a picture and as arrays, and the objective that people name in words.

#include <nlohmann/json_fwd.hpp>

#include "inspect/array_file.h"
#include "inspect/gradient.h"
#include "inspect/heatmap.h"

namespace limpid {

struct ObjectiveRequest {
  std::string of = "logit";  // "logit", "log-probability" or "loss"
  std::string token = {};    // whose; empty: the likeliest
  std::string against = {};  // of a logit: less this one's
  int64_t position = -1;
};
Objective read_objective(const Session& session, const Example& example, const ObjectiveRequest& request);

// One number at a tap with its gradient.
struct StrongNumber {
  std::string tap;
  int64_t position = 0, head = 0, column = 0;
  double value = 0, gradient = 0;
  std::string place;  // as inspect/place.h names it

  double product() const { return value * gradient; }
};
// The numbers whose gradient × value is farthest from zero.
std::vector<StrongNumber> strongest_numbers(const TapGradients& all, int64_t wanted);

nlohmann::ordered_json gradient_json(const Session& session, const TapGradients& all, const Objective& objective,
                                     int64_t top);

// One map for taps of as many positions, a row per tap: gradient × value, or the gradient's length.
Picture gradient_picture(const Session& session, const Example& example, const TapGradients& all,
                         const Objective& objective, bool length);

// Values under their tap's name, gradients under NAME.gradient, in the order of `names`.
std::vector<ArrayShape> gradient_arrays(const TapGradients& all);

}  // namespace limpid
