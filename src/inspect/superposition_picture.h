#pragma once
// Pictures of the toy model: the features' directions in two dimensions, one panel a density; or, in more dimensions,
// what share of a dimension each feature has.

#include <string>
#include <vector>

#include "inspect/chart.h"
#include "inspect/superposition.h"

namespace limpid {

std::string geometry_svg(const std::vector<SuperpositionModel>& models);
std::string geometry_terminal(const std::vector<SuperpositionModel>& models, const TerminalStyle& style);

// Points: D_i of every feature that is represented; a curve: m/|W|².
Chart dimensionality_chart(const std::vector<SuperpositionModel>& models);

// How many features have a D_i within `slack` of a value.
int64_t features_near(const std::vector<double>& dimensionality, double value, double slack);

}  // namespace limpid
