#pragma once
// What a run is asked to do otherwise than before when it goes on.

#include <filesystem>
#include <string>
#include <vector>

#include "training/recipe.h"

namespace limpid {

// One line for each key that changes the result and has another value: "schedule.learning_rate 0.001 → 0.0005". Left
// out: where files lie, when the run ends, what is kept or shown, how it is decoded, and what the dataset is made of,
// which training/dataset_record.h compares.
std::vector<std::string> result_changes(const Recipe& before, const Recipe& now);

}  // namespace limpid
