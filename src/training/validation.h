#pragma once
// Validation: the loss and the scores of a model on text that it is not trained on.

#include "cluster/courier.h"
#include "models/model.h"
#include "training/trainer.h"

namespace limpid {

// Fills loss, scores and shown translations as the recipe asks. With ranks the work is shared out; all get the same
// report, with the bits that one rank alone comes to.
ValidationReport validate(const Model& model, const Recipe& recipe, const Dataset& dataset, Courier& ranks);
ValidationReport validate(const Model& model, const Recipe& recipe, const Dataset& dataset);

// The number that the recipe's metric compares, and whether more of it is better.
double metric_value(const ValidationReport& report, const std::string& metric);
bool is_better(double value, double than, const std::string& metric);
double worst_value(const std::string& metric);

}  // namespace limpid
