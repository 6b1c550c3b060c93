#include "experiments/list.h"

#include <string>

#include "experiments/explanations.h"

namespace limpid {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = [] {
    std::vector<Experiment> made = {
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
    explain(made);
    return made;
  }();
  return all;
}

const std::vector<Experiment>& experiments_on_data() {
  static const std::vector<Experiment> all = {length_on_multi30k()};
  return all;
}

const Experiment* find_experiment(std::string_view name, std::string_view data) {
  // "length" with the data "multi30k" is "length-multi30k".
  const std::string suffix = data.empty() ? "" : "-" + std::string(data);
  for (const Experiment& experiment : data.empty() ? experiments() : experiments_on_data())
    if (name == experiment.name || std::string(name) + suffix == experiment.name ||
        name == std::to_string(experiment.number))
      return &experiment;
  return nullptr;
}

}  // namespace limpid
