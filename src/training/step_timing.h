#pragma once
// How long an update takes on this machine: some are made with the very data, and thrown away.

#include "training/dataset.h"

namespace limpid {

struct StepTiming {
  double seconds = 0;  // of one update
  double tokens = 0;   // to be predicted in one update
  int64_t parameters = 0;
};

StepTiming time_steps(const Recipe& recipe, const Dataset& dataset, double seconds,
                      const std::function<bool()>& interrupted = {});

}  // namespace limpid
