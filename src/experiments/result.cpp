#include "experiments/result.h"

#include <algorithm>

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

std::optional<Json> read_result(const fs::path& out, const Experiment& experiment, Arm arm) {
  const fs::path path = result_folder(out, experiment, arm) / "result.json";
  if (!path_exists(path)) return std::nullopt;
  Json json = Json::parse(read_text(path), nullptr, false);
  const bool whole = json.is_object() && json.contains("seeds") && json.contains("parts") && json.contains("baseline");
  return whole ? std::optional(std::move(json)) : std::nullopt;
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
