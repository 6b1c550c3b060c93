#pragma once
// Where something fires, for machines: the same fields for a neuron and for a feature.

#include <nlohmann/json.hpp>

#include "inspect/firing.h"

namespace limpid {

nlohmann::ordered_json histogram_json(const Histogram& histogram);
nlohmann::ordered_json texts_json(const Firing& firing);

}  // namespace limpid
