#pragma once
// Results as data: OUT/NAME/result.json (of other arms OUT/contrary/NAME/… and OUT/planted/NAME/…) holds every number
// of a run.
//
//   {"experiment": "scaling", "number": 3, "revision": of the experiment, "counted": exact, one seed is enough,
//    "size": "full", "arm": "claim" | "contrary" | "planted", "version": …, "machine": …,
//    "parts": [{"key", "must": "at least" | "at most", "threshold", "main", "timed"}], "baseline": as a part, or null,
//    "seeds": [{"seed": 1, "numbers": {key: number}, "units": {unit: what it measured}}],
//    "verdict": "holds" | "holds in part" | "does not hold here" | "undecided",
//    "seconds": …, "processor_seconds": …}

#include <filesystem>
#include <optional>

#include "experiments/experiment.h"

namespace limpid {

const char* size_name(Size size);
const char* arm_name(Arm arm);
Arm arm_of(const Json& result);

Json measure_json(const Measure& measure);
std::filesystem::path result_folder(const std::filesystem::path& out, const Experiment& experiment, Arm arm);
// None where this revision of it has not been run. Error where the file is damaged.
std::optional<Json> read_result(const std::filesystem::path& out, const Experiment& experiment, Arm arm);

// The mean of a number of one unit over the seeds, by JSON pointer: mean_of(result, "plain", "/loss").
double mean_of(const Json& result, const std::string& unit, const std::string& pointer);
// A list of one unit, the mean over the seeds at every place.
std::vector<double> curve_of(const Json& result, const std::string& unit, const std::string& pointer);

// Without times and speeds: what two runs with the same seeds have in common.
Json without_times(Json result);

}  // namespace limpid
