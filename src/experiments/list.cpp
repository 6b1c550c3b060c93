#include "experiments/list.h"

#include <string>

namespace limpid {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = {
      length_experiment(),         // 1
      sequential_experiment(),     // 2
      scaling_experiment(),        // 3
      order_experiment(),          // 4
      sinusoids_experiment(),      // 5
      collapse_experiment(),       // 6
      activations_experiment(),    // 7
      heads_experiment(),          // 8
      mask_experiment(),           // 9
      norms_experiment(),          // 10
      residuals_experiment(),      // 11
      parameters_experiment(),     // 12
      embeddings_experiment(),     // 13
      temperature_experiment(),    // 14
      facts_experiment(),          // 15
      superposition_experiment(),  // 16
      tables_experiment(),         // 17
  };
  return all;
}

const Experiment* find_experiment(std::string_view name) {
  for (const Experiment& experiment : experiments())
    if (name == experiment.name || name == std::to_string(experiment.number)) return &experiment;
  return nullptr;
}

}  // namespace limpid
