#pragma once
// Validation: the loss and the scores of a model on text that it is not trained on.

#include "models/model.h"
#include "training/trainer.h"

namespace limpid {

// Fills loss, scores and shown translations as the recipe asks.
ValidationReport validate(const Model& model, const Recipe& recipe, const Dataset& dataset);

// The number that the recipe's metric compares, and whether more of it is better.
double metric_value(const ValidationReport& report, const std::string& metric);
bool is_better(double value, double than, const std::string& metric);
double worst_value(const std::string& metric);

}  // namespace limpid
