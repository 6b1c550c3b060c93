#pragma once
// The runner: from experiments to their results, unit by unit. Units are computed side by side, one on each thread:
// models this small gain little from more than one. What a unit measured is kept in OUT/units/, written whole or not at
// all, so that a run that ends at any moment goes on where it was and comes to the same result.

#include <filesystem>
#include <functional>
#include <string>

#include "experiments/experiment.h"

namespace limpid {

struct ExperimentRun {
  std::filesystem::path out;
  Size size = Size::full;
  Arm arm = Arm::claim;
  std::filesystem::path data = {};  // the folder of the data set, where experiments need one
  int64_t seeds = 0;                // 1 to so many; 0: as many as each experiment asks for, one below full size
  std::string machine = {};         // for the record
  // Hears seconds of expected work that are done, of those that were left at the start; false: stop. One call at a
  // time, from any thread.
  std::function<bool(double done, const std::string& what)> progress = {};
  // Hears each result as soon as its last unit is done. Called as progress is.
  std::function<void(const Experiment& experiment, const Json& result)> finished = {};
};

// How many seeds an experiment has in this run.
int64_t seeds_of(const Experiment& experiment, const ExperimentRun& run);

// Expected seconds of work on this machine, of all units or of those not yet done.
struct ExpectedWork {
  double all = 0, left = 0;
  int64_t units = 0, units_left = 0;
};
ExpectedWork expected_work(const Experiment& experiment, const ExperimentRun& run);

// Runs what is left of all of them, writes each result.json and gives the results in the order of the experiments.
// Error of kind cancelled where it was stopped.
std::vector<Json> run_experiments(const std::vector<const Experiment*>& experiments, const ExperimentRun& run);
Json run_experiment(const Experiment& experiment, const ExperimentRun& run);

// The units of one seed.
std::vector<std::string> units_of(const Experiment& experiment, const ExperimentRun& run);
// Measures one unit anew, with one seed, and keeps nothing but the models it trains.
Json measure_once(const Experiment& experiment, const ExperimentRun& run, const std::string& unit, uint64_t seed);

}  // namespace limpid
