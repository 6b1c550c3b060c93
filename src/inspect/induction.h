#pragma once
// Induction (Elhage et al. 2021, Olsson et al. 2022): on sequences of random letters repeated, a model with two
// layers of attention and nothing else learns to look at what followed a letter the first time, and so predicts the
// second copy; a model with one layer cannot, because no head can look for a letter's follower by the letter alone.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "inspect/chart.h"

namespace limpid {

struct InductionStudyOptions {
  std::vector<int64_t> layers = {2, 1};  // one model each
  int64_t width = 64, heads = 4;
  int64_t alphabet = 64;  // letters
  int64_t shortest = 8,
          longest = 40;  // letters that are repeated: so varied that no head can know by counting where they were
  int64_t steps = 800, batch = 32;  // sequences per step
  double learning_rate = 3e-3;
  int64_t every = 50;  // steps between measurements
  uint64_t seed = 1;
};

struct InductionPoint {
  int64_t step = 0;
  double score = 0;             // of the head with the highest: attention to what followed last time
  int64_t layer = 0, head = 0;  // which
  std::vector<double> scores;   // of every head, (layers, heads)
  double first = 0,
         second = 0;  // loss in nats per letter of the first copy (log of the alphabet at best) and of the second
};

struct InductionCurve {
  int64_t layers = 0;
  int64_t parameters = 0;
  std::vector<InductionPoint> points;
};

// `progress` hears after every step the steps done of all models, and what is known of the one that is being trained;
// false ends it with an Error.
using InductionProgress = std::function<bool(int64_t done, const InductionCurve& so_far)>;
std::vector<InductionCurve> study_induction(const InductionStudyOptions& options,
                                            const InductionProgress& progress = {});

nlohmann::ordered_json induction_json(const InductionPoint& point);
nlohmann::ordered_json induction_json(const InductionCurve& curve);

Chart induction_chart(const std::vector<InductionCurve>& curves);
Chart induction_loss_chart(const std::vector<InductionCurve>& curves);

}  // namespace limpid
