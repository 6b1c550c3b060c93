#include "inspect/tap_names_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace limpid {

const char* axis_name(TapAxis axis) {
  return axis == TapAxis::source ? "source" : axis == TapAxis::input ? "input" : "text";
}

std::string shape_text(const TapInfo& tap) {
  if (tap.keys)
    return fmt::format("({} heads, {} queries, {} keys)", tap.heads, axis_name(tap.rows), axis_name(*tap.keys));
  return fmt::format("({} tokens, {})", axis_name(tap.rows), tap.cols);
}

nlohmann::ordered_json taps_json(const std::vector<TapInfo>& taps) {
  auto all = nlohmann::ordered_json::array();
  for (const TapInfo& tap : taps) all.push_back({{"name", tap.name}, {"shape", shape_text(tap)}, {"heads", tap.heads}});
  return all;
}

}  // namespace limpid
