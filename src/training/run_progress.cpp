#include "training/run_progress.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"

namespace limpid {

bool RunProgress::add_loss(double loss) {
  constexpr double kMemory = 0.98;
  const double keep = std::min(kMemory, 1 - 1 / static_cast<double>(step));
  smoothed_loss = keep * smoothed_loss + (1 - keep) * loss;
  if (step < 50) return false;
  lowest_loss = std::min(lowest_loss, smoothed_loss);
  return smoothed_loss > 1.5 * lowest_loss + 1;
}

nlohmann::ordered_json RunProgress::json() const {
  return {{"step", step},
          {"epoch", position.epoch},
          {"pool", position.pool},
          {"batch", position.batch},
          {"best", best},
          {"best_loss", best_loss},
          {"best_step", best_step},
          {"without_better", without_better},
          {"validated_step", validated_step},
          {"rate_factor", rate_factor},
          {"rollbacks", rollbacks},
          {"smoothed_loss", smoothed_loss},
          {"lowest_loss", lowest_loss},
          {"seconds", seconds}};
}

RunProgress RunProgress::from(const nlohmann::ordered_json& json) {
  try {
    return {.step = json.at("step"),
            .position = {json.at("epoch"), json.at("pool"), json.at("batch")},
            .best = json.at("best"),
            .best_loss = json.value("best_loss", 1e30),
            .best_step = json.at("best_step"),
            .without_better = json.at("without_better"),
            .validated_step = json.value("validated_step", int64_t{-1}),
            .rate_factor = json.at("rate_factor"),
            .rollbacks = json.at("rollbacks"),
            .smoothed_loss = json.at("smoothed_loss"),
            .lowest_loss = json.at("lowest_loss"),
            .seconds = json.at("seconds")};
  } catch (const nlohmann::json::exception& error) {
    fail("[checkpoint] state.json does not say how to go on ({}): was it written by another version?",
         json_reason(error));
  }
}

}  // namespace limpid
