#include "experiments/runner.h"

#include <fmt/format.h>

#include <chrono>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file.h"
#include "experiments/lab.h"
#include "experiments/result.h"
#include "experiments/verdict.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

struct UnitPlace {
  std::string unit;
  uint64_t seed = 1;
  fs::path file;
};

Lab lab_of(const ExperimentRun& run, uint64_t seed) {
  return Lab({.folder = run.out, .size = run.size, .contrary = run.contrary, .seed = seed});
}

std::vector<UnitPlace> plan(const Experiment& experiment, const ExperimentRun& run) {
  std::vector<UnitPlace> places;
  const int64_t seeds = experiment.counted ? 1 : run.seeds;
  for (int64_t seed = 1; seed <= seeds; ++seed)
    for (const std::string& unit : experiment.units(lab_of(run, static_cast<uint64_t>(seed)))) {
      const std::string key = fmt::format("{} {} {} {} {} {} {}", LIMPID_VERSION, experiment.name, experiment.revision,
                                          size_name(run.size), run.contrary, unit, seed);
      places.push_back({.unit = unit,
                        .seed = static_cast<uint64_t>(seed),
                        .file = run.out / "units" / experiment.name / (hash_text(content_hash(key)) + ".json")});
    }
  return places;
}

std::optional<Json> kept(const fs::path& file) {
  if (!fs::exists(file)) return std::nullopt;
  Json json = Json::parse(read_text(file), nullptr, false);
  return json.is_object() && json.contains("measured") ? std::optional(std::move(json)) : std::nullopt;
}

double expected_seconds(const Experiment& experiment, const ExperimentRun& run) {
  const double seeds = experiment.counted ? 1 : static_cast<double>(run.seeds);
  constexpr double kUsualSeeds = 3;
  if (run.size == Size::full) return 60 * experiment.minutes * (experiment.counted ? 1 : seeds / kUsualSeeds);
  return experiment.quick_seconds * seeds * (run.size == Size::tiny ? 0.1 : 1);
}

Json measure_unit(const Experiment& experiment, const ExperimentRun& run, const UnitPlace& place, double before,
                  double expected) {
  Lab lab({.folder = run.out,
           .size = run.size,
           .contrary = run.contrary,
           .seed = place.seed,
           .progress = [&](double share, const std::string& what) {
             return !run.progress ||
                    run.progress(before + share * expected,
                                 fmt::format("{} {}, seed {}: {}", experiment.name, place.unit, place.seed, what));
           }});
  lab.progress(0, "starts");
  const auto start = std::chrono::steady_clock::now();
  Json json = {{"experiment", experiment.name}, {"unit", place.unit}, {"seed", place.seed}};
  json["measured"] = experiment.measure(lab, place.unit);
  json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fs::create_directories(place.file.parent_path());
  write_text(place.file, json.dump(1));
  return json;
}

}  // namespace

ExpectedWork expected_work(const Experiment& experiment, const ExperimentRun& run) {
  const std::vector<UnitPlace> places = plan(experiment, run);
  ExpectedWork work{.all = expected_seconds(experiment, run), .units = static_cast<int64_t>(places.size())};
  for (const UnitPlace& place : places) work.units_left += fs::exists(place.file) ? 0 : 1;
  work.left = work.all * static_cast<double>(work.units_left) / static_cast<double>(std::max<int64_t>(work.units, 1));
  return work;
}

Json run_experiment(const Experiment& experiment, const ExperimentRun& run) {
  const std::vector<UnitPlace> places = plan(experiment, run);
  const double expected = expected_seconds(experiment, run) / static_cast<double>(places.size());
  Json result = {
      {"experiment", experiment.name}, {"number", experiment.number},
      {"size", size_name(run.size)},   {"contrary", run.contrary},
      {"version", LIMPID_VERSION},     {"machine", run.machine},
      {"parts", Json::array()},        {"baseline", experiment.baseline ? measure_json(*experiment.baseline) : Json()},
      {"seeds", Json::array()}};
  for (const Measure& part : experiment.parts) result["parts"].push_back(measure_json(part));
  double done = 0, seconds = 0;
  for (const UnitPlace& place : places) {
    std::optional<Json> unit = kept(place.file);
    if (!unit) {
      unit = measure_unit(experiment, run, place, done, expected);
      done += expected;
    }
    Json& seeds = result["seeds"];
    if (seeds.empty() || seeds.back()["seed"] != place.seed)
      seeds.push_back({{"seed", place.seed}, {"numbers", Json::object()}, {"units", Json::object()}});
    seeds.back()["units"][place.unit] = unit->at("measured");
    seconds += unit->at("seconds").get<double>();
  }
  for (Json& seed : result["seeds"]) seed["numbers"] = experiment.numbers(seed["units"]);
  // Numbers as a reader of the file will see them: what is not finite is null there.
  result = Json::parse(result.dump());
  result["verdict"] = name_of(judge(result));
  result["seconds"] = seconds;
  const fs::path folder = result_folder(run.out, experiment, run.contrary);
  fs::create_directories(folder);
  write_text(folder / "result.json", result.dump(1));
  return result;
}

}  // namespace limpid
