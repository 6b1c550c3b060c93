#pragma once
// What parts that failed in our own runs mean. Written after results were seen, and therefore apart from the
// experiments, which state what they state before they run.

#include <vector>

#include "experiments/experiment.h"

namespace limpid {

// Gives parts their `otherwise`.
void explain(std::vector<Experiment>& experiments);

}  // namespace limpid
