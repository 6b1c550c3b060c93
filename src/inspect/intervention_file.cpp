// Interventions as people write them: TOML, or one line each.

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "base/nearest.h"
#include "inspect/intervention.h"

namespace limpid {
namespace {

struct KindName {
  std::string_view name;
  Intervention::Kind kind;
};
constexpr KindName kKinds[] = {{"zero", Intervention::Kind::zero},   {"mean", Intervention::Kind::mean},
                               {"scale", Intervention::Kind::scale}, {"set", Intervention::Kind::set},
                               {"patch", Intervention::Kind::patch}, {"steer", Intervention::Kind::steer}};
constexpr std::array<std::string_view, 14> kKeys = {"zero",  "mean", "scale", "set",  "patch", "steer",       "edit",
                                                    "along", "by",   "to",    "over", "from",  "from_target", "note"};

std::string text_of(const toml::table& table, std::string_view key, const std::string& where) {
  const toml::node* node = table.get(key);
  if (!node) return "";
  const auto text = node->value<std::string>();
  check(text.has_value(), "[{}:{}] {} wants a text in quotes", where, node->source().begin.line, key);
  return *text;
}

double number_of(const toml::table& table, std::string_view key, double otherwise, const std::string& where) {
  const toml::node* node = table.get(key);
  if (!node) return otherwise;
  const auto number = node->value<double>();
  check(number.has_value(), "[{}:{}] {} wants a number", where, node->source().begin.line, key);
  return *number;
}

void check_keys(const toml::table& table, const std::string& where) {
  for (const auto& [key, value] : table)
    check(std::find(kKeys.begin(), kKeys.end(), key.str()) != kKeys.end(), "[{}:{}] an intervention has no key {}{}",
          where, value.source().begin.line, key.str(), [&] { return did_you_mean(key.str(), kKeys); });
}

Intervention intervention_of(const toml::table& table, const KindName& kind, const std::string& where) {
  Intervention one{.kind = kind.kind, .place = parse_place(text_of(table, kind.name, where))};
  one.number = number_of(table, kind.kind == Intervention::Kind::set ? "to" : "by", 1, where);
  one.along = text_of(table, "along", where);
  one.over = text_of(table, "over", where);
  one.from = {text_of(table, "from", where), text_of(table, "from_target", where)};
  const auto line = table.source().begin.line;
  check(kind.kind != Intervention::Kind::steer || !one.along.empty(), "[{}:{}] steer wants along = \"token:WORD\"",
        where, line);
  check(kind.kind != Intervention::Kind::patch || !one.from.text.empty(), "[{}:{}] patch wants from = \"another text\"",
        where, line);
  check(kind.kind != Intervention::Kind::set || table.contains("to"), "[{}:{}] set wants to = a number", where, line);
  check(kind.kind != Intervention::Kind::scale || table.contains("by"), "[{}:{}] scale wants by = a number", where,
        line);
  return one;
}

void read_table(const toml::table& table, const std::string& where, InterventionList& list) {
  check_keys(table, where);
  int64_t found = 0;
  for (const KindName& kind : kKinds)
    if (table.contains(kind.name)) {
      list.values.push_back(intervention_of(table, kind, where));
      ++found;
    }
  if (table.contains("edit")) {
    list.weights.push_back(parse_weight_edit(text_of(table, "edit", where)));
    ++found;
  }
  check(found == 1,
        "[{}:{}] an [[intervention]] has one of zero, mean, scale, set, patch, steer, edit; this one has {}", where,
        table.source().begin.line, found);
}

// "PLACE=VALUE": the last = that is not in brackets.
std::pair<std::string_view, std::string_view> at_equals(std::string_view text) {
  const size_t equals = text.rfind('=');
  check(equals != std::string_view::npos, "[look] \"{}\" has no value: write PLACE=VALUE", text);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

double number_in(std::string_view text, std::string_view whole) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  check(error == std::errc() && end == text.data() + text.size() && !text.empty(), "[look] \"{}\" in {} is no number",
        text, whole);
  return number;
}

}  // namespace

Intervention parse_with_number(Intervention::Kind kind, std::string_view text) {
  const auto [place, value] = at_equals(text);
  return {.kind = kind, .place = parse_place(place), .number = number_in(value, text)};
}

Intervention parse_steering(std::string_view text) {
  // The direction may hold anything (a text, a path), so it begins at the first = of all.
  const size_t equals = text.find('=');
  check(equals != std::string_view::npos, "[look] \"{}\" has no direction: write PLACE=4*token:WORD", text);
  const std::string_view value = text.substr(equals + 1);
  const size_t star = value.find('*'), colon = value.find(':');
  Intervention one{.kind = Intervention::Kind::steer, .place = parse_place(text.substr(0, equals))};
  const bool has_factor = star != std::string_view::npos && star < colon;
  if (has_factor) one.number = number_in(value.substr(0, star), text);
  one.along = has_factor ? value.substr(star + 1) : value;
  return one;
}

InterventionList parse_interventions(const std::string& toml, const std::string& where) {
  InterventionList list;
  try {
    const toml::table root = toml::parse(toml, where);
    for (const auto& [key, value] : root)
      check(key.str() == "intervention" && value.is_array(),
            "[{}:{}] a file of interventions holds [[intervention]] tables only, this is {}", where,
            value.source().begin.line, key.str());
    if (const toml::array* tables = root["intervention"].as_array())
      for (const toml::node& node : *tables) {
        check(node.is_table(), "[{}:{}] write [[intervention]]", where, node.source().begin.line);
        read_table(*node.as_table(), where, list);
      }
  } catch (const toml::parse_error& error) {
    fail("[{}:{}] {}", where, error.source().begin.line, error.description());
  }
  check(!list.empty(), "[{}] no [[intervention]] in this file", where);
  return list;
}

}  // namespace limpid
