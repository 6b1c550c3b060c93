#pragma once
// All experiments in the order of their numbers. A new one is a file with its function, and a line here and in
// list.cpp.

#include <string_view>
#include <vector>

#include "experiments/experiment.h"

namespace limpid {

const std::vector<Experiment>& experiments();
// By name or number; null: there is none.
const Experiment* find_experiment(std::string_view name);

Experiment scaling_experiment();  // 3

}  // namespace limpid
