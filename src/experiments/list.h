#pragma once
// All experiments in the order of their numbers. A new one is a file with its function, and a line here and in
// list.cpp.

#include <string_view>
#include <vector>

#include "experiments/experiment.h"

namespace limpid {

const std::vector<Experiment>& experiments();
// Those on data that must be downloaded first, apart from the others.
const std::vector<Experiment>& experiments_on_data();
// By name or number, of those on a data set or, where that is empty, of the others; null: there is none.
const Experiment* find_experiment(std::string_view name, std::string_view data = {});

Experiment length_experiment();         // 1
Experiment length_on_multi30k();        // with data
Experiment sequential_experiment();     // 2
Experiment scaling_experiment();        // 3
Experiment order_experiment();          // 4
Experiment sinusoids_experiment();      // 5
Experiment collapse_experiment();       // 6
Experiment activations_experiment();    // 7
Experiment heads_experiment();          // 8
Experiment mask_experiment();           // 9
Experiment norms_experiment();          // 10
Experiment residuals_experiment();      // 11
Experiment parameters_experiment();     // 12
Experiment embeddings_experiment();     // 13
Experiment temperature_experiment();    // 14
Experiment facts_experiment();          // 15
Experiment superposition_experiment();  // 16
Experiment tables_experiment();         // 17

}  // namespace limpid
