#include "experiments/list.h"

#include <string>

namespace limpid {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = {
      scaling_experiment(),
  };
  return all;
}

const Experiment* find_experiment(std::string_view name) {
  for (const Experiment& experiment : experiments())
    if (name == experiment.name || name == std::to_string(experiment.number)) return &experiment;
  return nullptr;
}

}  // namespace limpid
