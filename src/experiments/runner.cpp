#include "experiments/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/paths.h"
#include "base/seconds_since.h"
#include "experiments/lab.h"
#include "experiments/processor_time.h"
#include "experiments/result.h"
#include "experiments/verdict.h"
#include "formats/model_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

struct UnitPlace {
  std::string unit;
  uint64_t seed = 1;
  fs::path file;
};

LabOptions options_of(const ExperimentRun& run, uint64_t seed) {
  return {.folder = run.out, .size = run.size, .arm = run.arm, .seed = seed, .data = run.data};
}

std::vector<UnitPlace> plan(const Experiment& experiment, const ExperimentRun& run) {
  std::vector<UnitPlace> places;
  for (int64_t seed = 1; seed <= seeds_of(experiment, run); ++seed) {
    const Lab lab({.folder = run.out, .size = run.size, .arm = run.arm, .seed = static_cast<uint64_t>(seed)});
    for (const std::string& unit : experiment.units(lab)) {
      const std::string key = fmt::format("{} {} {} {} {} {} {}", LIMPID_VERSION, experiment.name, experiment.revision,
                                          size_name(run.size), run.arm == Arm::contrary, unit, seed) +
                              (run.arm == Arm::planted ? " planted" : "");
      places.push_back({.unit = unit,
                        .seed = static_cast<uint64_t>(seed),
                        .file = run.out / "units" / experiment.name / (hash_text(content_hash(key)) + ".json")});
    }
  }
  return places;
}

std::optional<Json> kept(const fs::path& file) {
  if (!path_exists(file)) return std::nullopt;
  Json json = Json::parse(read_text(file), nullptr, false);
  const bool whole = json.is_object() && json.contains("measured") && json.contains("processor_seconds");
  return whole ? std::optional(std::move(json)) : std::nullopt;
}

// Processor time that all units need.
double processor_seconds(const Experiment& experiment, const ExperimentRun& run) {
  const auto seeds = static_cast<double>(seeds_of(experiment, run));
  if (run.size == Size::full) return experiment.full_seconds * seeds / static_cast<double>(seeds_of(experiment, {}));
  return experiment.quick_seconds * seeds * (run.size == Size::tiny ? 0.1 : 1);
}

// Speeds are measured with the whole machine, nothing beside them.
bool runs_alone(const Experiment& experiment) {
  return std::any_of(experiment.parts.begin(), experiment.parts.end(), [](const Measure& part) { return part.timed; });
}

Json result_of(const Experiment& experiment, const ExperimentRun& run) {
  Json result = {{"experiment", experiment.name},
                 {"number", experiment.number},
                 {"revision", experiment.revision},
                 {"counted", experiment.counted},
                 {"size", size_name(run.size)},
                 {"arm", arm_name(run.arm)},
                 {"version", LIMPID_VERSION},
                 {"machine", run.machine},
                 {"parts", Json::array()},
                 {"baseline", experiment.baseline ? measure_json(*experiment.baseline) : Json()},
                 {"seeds", Json::array()}};
  for (const Measure& part : experiment.parts) result["parts"].push_back(measure_json(part));
  double seconds = 0, processor = 0;
  for (const UnitPlace& place : plan(experiment, run)) {
    const std::optional<Json> unit = kept(place.file);
    check(unit.has_value(), "[experiment] {}: what was measured has gone: run the same command again", place.file);
    Json& seeds = result["seeds"];
    if (seeds.empty() || seeds.back()["seed"] != place.seed)
      seeds.push_back({{"seed", place.seed}, {"numbers", Json::object()}, {"units", Json::object()}});
    seeds.back()["units"][place.unit] = unit->at("measured");
    seconds += unit->at("seconds").get<double>();
    processor += unit->at("processor_seconds").get<double>();
  }
  for (Json& seed : result["seeds"]) seed["numbers"] = experiment.numbers(seed["units"]);
  // Numbers as a reader of the file will see them: what is not finite is null there.
  result = Json::parse(result.dump());
  result["verdict"] = name_of(judge(result));
  result["seconds"] = seconds;
  result["processor_seconds"] = processor;
  const fs::path folder = result_folder(run.out, experiment, run.arm);
  make_folder(folder);
  write_text(folder / "result.json", result.dump(1));
  return result;
}

struct PendingUnit {
  size_t experiment = 0;  // among the chosen ones
  UnitPlace place;
  double expected = 0;  // seconds
};

// One call of run_experiments: who is where, and what all of them together have done.
class UnitQueue {
 public:
  UnitQueue(const std::vector<const Experiment*>& experiments, const ExperimentRun& run)
      : experiments_(experiments), run_(run), results_(experiments.size()), left_(experiments.size()) {
    for (size_t i = 0; i < experiments.size(); ++i) {
      const std::vector<UnitPlace> places = plan(*experiments[i], run);
      const double each = expected_work(*experiments[i], run).all / static_cast<double>(places.size());
      for (const UnitPlace& place : places) {
        if (kept(place.file)) continue;
        (runs_alone(*experiments[i]) ? alone_ : together_).push_back({i, place, each});
        ++left_[i];
      }
    }
  }

  std::vector<Json> run() {
    for (size_t i = 0; i < experiments_.size(); ++i)
      if (left_[i] == 0) finish(i);
    for (const PendingUnit& unit : alone_) measure(unit, false);
    parallel_for(static_cast<int64_t>(together_.size()),
                 [&](int64_t i) { measure(together_[static_cast<size_t>(i)], threads() > 1 && together_.size() > 1); });
    if (error_) std::rethrow_exception(error_);
    return results_;
  }

 private:
  void measure(const PendingUnit& unit, bool beside_others) {
    if (stopped_) return;
    try {
      measure_and_keep(unit, beside_others);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!stopped_) error_ = std::current_exception();  // the others end because this one did
      stopped_ = true;
    }
  }

  void measure_and_keep(const PendingUnit& unit, bool beside_others) {
    const Experiment& experiment = *experiments_[unit.experiment];
    double told = 0;  // of this unit, in seconds
    LabOptions options = options_of(run_, unit.place.seed);
    options.beside_others = beside_others;
    options.progress = [&](double share, const std::string& what) {
      const std::lock_guard lock(mutex_);
      done_ += share * unit.expected - told;
      told = share * unit.expected;
      if (stopped_) return false;
      return !run_.progress || run_.progress(done_, fmt::format("{} {}, seed {}: {}", experiment.name, unit.place.unit,
                                                                unit.place.seed, what));
    };
    Lab lab(std::move(options));
    lab.progress(0, "starts");
    const auto start = std::chrono::steady_clock::now();
    const double processor = processor_time(beside_others);
    Json json = {{"experiment", experiment.name}, {"unit", unit.place.unit}, {"seed", unit.place.seed}};
    json["measured"] = experiment.measure(lab, unit.place.unit);
    json["seconds"] = seconds_since(start);
    json["processor_seconds"] = processor_time(beside_others) - processor;
    const std::lock_guard lock(mutex_);
    make_folder(unit.place.file.parent_path());
    write_text(unit.place.file, json.dump(1));
    done_ += unit.expected - told;
    if (--left_[unit.experiment] == 0) finish(unit.experiment);
  }

  void finish(size_t i) {
    results_[i] = result_of(*experiments_[i], run_);
    if (run_.finished) run_.finished(*experiments_[i], results_[i]);
  }

  const std::vector<const Experiment*>& experiments_;
  const ExperimentRun& run_;
  std::vector<Json> results_;
  std::vector<int64_t> left_;  // units of each experiment
  std::vector<PendingUnit> alone_, together_;
  std::mutex mutex_;
  double done_ = 0;
  std::atomic<bool> stopped_ = false;
  std::exception_ptr error_;  // why
};

}  // namespace

int64_t seeds_of(const Experiment& experiment, const ExperimentRun& run) {
  if (experiment.counted) return 1;
  if (run.seeds > 0) return run.seeds;
  return run.size == Size::full ? experiment.seeds : 1;
}

ExpectedWork expected_work(const Experiment& experiment, const ExperimentRun& run) {
  const std::vector<UnitPlace> places = plan(experiment, run);
  ExpectedWork work{.all = processor_seconds(experiment, run) / (runs_alone(experiment) ? 1 : threads()),
                    .units = static_cast<int64_t>(places.size())};
  for (const UnitPlace& place : places) work.units_left += kept(place.file) ? 0 : 1;
  work.left = work.all * static_cast<double>(work.units_left) / static_cast<double>(std::max<int64_t>(work.units, 1));
  return work;
}

std::vector<Json> run_experiments(const std::vector<const Experiment*>& experiments, const ExperimentRun& run) {
  return UnitQueue(experiments, run).run();
}

Json run_experiment(const Experiment& experiment, const ExperimentRun& run) {
  return run_experiments({&experiment}, run).at(0);
}

std::vector<std::string> units_of(const Experiment& experiment, const ExperimentRun& run) {
  return experiment.units(Lab(options_of(run, 1)));
}

Json measure_once(const Experiment& experiment, const ExperimentRun& run, const std::string& unit, uint64_t seed) {
  LabOptions options = options_of(run, seed);
  options.progress = run.progress;
  Lab lab(std::move(options));
  return experiment.measure(lab, unit);
}

}  // namespace limpid
