#include "server/json_fields.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/nearest.h"

namespace limpid {

using nlohmann::json;

JsonFields::JsonFields(std::string_view body) : object_(parse_json(body, "The body is no JSON")) {
  if (!object_.is_object()) throw HttpError(400, "The body must be a JSON object.");
}

void JsonFields::refuse(const std::string& name, const std::string& message) {
  throw HttpError(400, message, {.param = name});
}

const json* JsonFields::any(const char* name) {
  known_.emplace_back(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const json& JsonFields::needed(const char* name) {
  const json* value = any(name);
  if (!value) refuse(name, fmt::format("The field \"{}\" is missing.", name));
  return *value;
}

std::optional<double> JsonFields::number(const char* name, double low, double high) {
  const json* value = any(name);
  if (!value) return std::nullopt;
  if (!value->is_number()) refuse(name, fmt::format("\"{}\" must be a number.", name));
  const auto number = value->get<double>();
  if (!(number >= low && number <= high))
    refuse(name, fmt::format("\"{}\" must be a number from {} to {}.", name, low, high));
  return number;
}

std::optional<int64_t> JsonFields::whole(const char* name, int64_t low, int64_t high) {
  const json* value = any(name);
  if (!value) return std::nullopt;
  // 3.0 is as good as 3.
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (!(number >= static_cast<double>(low) && number <= static_cast<double>(high)) || number != std::floor(number))
    refuse(name, fmt::format("\"{}\" must be a whole number from {} to {}.", name, low, high));
  return value->is_number_integer() ? value->get<int64_t>() : static_cast<int64_t>(number);
}

std::optional<bool> JsonFields::flag(const char* name) {
  const json* value = any(name);
  if (!value) return std::nullopt;
  if (!value->is_boolean()) refuse(name, fmt::format("\"{}\" must be true or false.", name));
  return value->get<bool>();
}

std::optional<std::string> JsonFields::text(const char* name) {
  const json* value = any(name);
  if (!value) return std::nullopt;
  if (!value->is_string()) refuse(name, fmt::format("\"{}\" must be a string.", name));
  return value->get<std::string>();
}

void JsonFields::ignore(std::initializer_list<const char*> names) {
  known_.insert(known_.end(), names.begin(), names.end());
}

void JsonFields::unless(const char* name, const json& harmless) {
  const json* value = any(name);
  if (value && *value != harmless) refuse(name, fmt::format("\"{}\" is not supported here: leave it out.", name));
}

void JsonFields::finish() const {
  const std::vector<std::string_view> known(known_.begin(), known_.end());
  for (const auto& [name, value] : object_.items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      refuse(name, fmt::format("There is no field \"{}\" here{}", name.substr(0, 100), did_you_mean(name, known)));
}

}  // namespace limpid
