#pragma once
// The runner: from an experiment to its result, unit by unit. What a unit measured is kept in OUT/units/, written whole
// or not at all, so that a run that ends at any moment goes on where it was and comes to the same result.

#include <filesystem>
#include <functional>
#include <string>

#include "experiments/experiment.h"

namespace limpid {

struct ExperimentRun {
  std::filesystem::path out;
  Size size = Size::full;
  bool contrary = false;
  int64_t seeds = 3;         // 1, 2, …; of counted experiments the first alone
  std::string machine = {};  // for the record
  // Hears seconds of expected work that are done, of those that were left at the start; false: stop.
  std::function<bool(double done, const std::string& what)> progress = {};
};

// Expected seconds of work, of all units or of those not yet done.
struct ExpectedWork {
  double all = 0, left = 0;
  int64_t units = 0, units_left = 0;
};
ExpectedWork expected_work(const Experiment& experiment, const ExperimentRun& run);

// Runs what is left, writes result.json and the figures, and gives the result. Error of kind cancelled where it was
// stopped.
Json run_experiment(const Experiment& experiment, const ExperimentRun& run);

}  // namespace limpid
