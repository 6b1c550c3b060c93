#pragma once
// RunProgress: the few numbers beside weights and moments that decide how a run goes on. Kept in every checkpoint.

#include <nlohmann/json.hpp>

#include "text/batches.h"

namespace limpid {

struct RunProgress {
  int64_t step = 0;             // updates done
  Batches::Position position;   // of the next batch
  double best = 0;              // by the recipe's metric
  double best_loss = 1e30;      // of the weights that had it
  int64_t best_step = -1;       // -1: no validation yet
  int64_t without_better = 0;   // validations since then
  int64_t validated_step = -1;  // of the last validation
  double rate_factor = 1;       // of the learning rate, halved whenever the run diverged
  int64_t rollbacks = 0;
  double smoothed_loss = 0;   // of the last hundred updates or so
  double lowest_loss = 1e30;  // that this has been
  double seconds = 0;         // of training so far

  // Takes the loss of an update into the smoothed one; true if that has risen far above its lowest.
  bool add_loss(double loss);

  nlohmann::ordered_json json() const;
  static RunProgress from(const nlohmann::ordered_json& json);
};

}  // namespace limpid
