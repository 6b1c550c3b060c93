#include "experiments/result.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"

namespace limpid {

namespace fs = std::filesystem;

const char* size_name(Size size) { return size == Size::full ? "full" : size == Size::quick ? "quick" : "tiny"; }

const char* arm_name(Arm arm) { return arm == Arm::claim ? "claim" : arm == Arm::contrary ? "contrary" : "planted"; }

Arm arm_of(const Json& result) {
  const std::string name = result.at("arm");
  return name == "claim" ? Arm::claim : name == "contrary" ? Arm::contrary : Arm::planted;
}

Json measure_json(const Measure& measure) {
  return {{"key", measure.key},
          {"must", measure.must == Measure::Must::at_least ? "at least" : "at most"},
          {"threshold", measure.threshold},
          {"main", measure.main},
          {"timed", measure.timed}};
}

fs::path result_folder(const fs::path& out, const Experiment& experiment, Arm arm) {
  return (arm == Arm::claim ? out : out / arm_name(arm)) / experiment.name;
}

namespace {

bool is_measure(const Json& json) {
  return json.is_object() && json.value("key", Json()).is_string() && json.value("must", Json()).is_string() &&
         json.value("threshold", Json()).is_number() && json.value("main", Json()).is_boolean() &&
         json.value("timed", Json()).is_boolean();
}

// Everything that a verdict and its report read, but for what units measured.
bool is_result(const Json& json) {
  if (!json.is_object()) return false;
  for (const char* text : {"experiment", "size", "arm", "version"})
    if (!json.value(text, Json()).is_string()) return false;
  for (const char* number : {"seconds", "processor_seconds"})
    if (!json.value(number, Json()).is_number()) return false;
  if (!json.value("counted", Json()).is_boolean()) return false;
  const Json parts = json.value("parts", Json()), baseline = json.value("baseline", Json()),
             seeds = json.value("seeds", Json());
  return parts.is_array() && std::all_of(parts.begin(), parts.end(), is_measure) &&
         (baseline.is_null() || is_measure(baseline)) && seeds.is_array() && !seeds.empty() &&
         std::all_of(seeds.begin(), seeds.end(), [](const Json& seed) {
           return seed.is_object() && seed.value("seed", Json()).is_number() &&
                  seed.value("numbers", Json()).is_object();
         });
}

}  // namespace

std::optional<Json> read_result(const fs::path& out, const Experiment& experiment, Arm arm) {
  const fs::path path = result_folder(out, experiment, arm) / "result.json";
  if (!path_exists(path)) return std::nullopt;
  Json json = Json::parse(read_text(path), nullptr, false);
  // What an earlier method measured says nothing about this one.
  if (json.is_object() && json.value("revision", Json()) != Json(experiment.revision)) return std::nullopt;
  check(is_result(json), "[experiment] {}: is damaged: run limpid experiment {}{} again, or delete the file", path,
        experiment.name, [&] { return arm == Arm::claim ? "" : fmt::format(" --{}", arm_name(arm)); });
  return json;
}

double mean_of(const Json& result, const std::string& unit, const std::string& pointer) {
  double sum = 0, count = 0;
  for (const Json& seed : result.at("seeds")) {
    sum += seed.at("units").at(unit).at(Json::json_pointer(pointer)).get<double>();
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

std::vector<double> curve_of(const Json& result, const std::string& unit, const std::string& pointer) {
  std::vector<double> mean;
  for (const Json& seed : result.at("seeds")) {
    const auto values = seed.at("units").at(unit).at(Json::json_pointer(pointer)).get<std::vector<double>>();
    if (mean.empty()) mean.resize(values.size());
    for (size_t i = 0; i < std::min(mean.size(), values.size()); ++i)
      mean[i] += values[i] / static_cast<double>(result.at("seeds").size());
  }
  return mean;
}

Json without_times(Json result) {
  result.erase("seconds");
  result.erase("processor_seconds");
  result.erase("machine");
  result.erase("verdict");  // speeds decide with the rest whether a claim holds in full
  for (Json& seed : result.at("seeds")) {
    for (const Json& part : result.at("parts"))
      if (part.at("timed")) seed.at("numbers").erase(part.at("key").get<std::string>());
    for (auto& [name, unit] : seed.at("units").items()) unit.erase("timed");
  }
  return result;
}

}  // namespace limpid
