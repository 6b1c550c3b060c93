#pragma once
// The taps of a model as JSON and as people read them.

#include <nlohmann/json_fwd.hpp>

#include "inspect/tap_names.h"

namespace limpid {

const char* axis_name(TapAxis axis);         // "source", "input", "text"
std::string shape_text(const TapInfo& tap);  // "(4 heads, input queries, input keys)"
nlohmann::ordered_json taps_json(const std::vector<TapInfo>& taps);

}  // namespace limpid
