#include "models/config_reader.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/nearest.h"
#include "models/missing_keys.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

// The value as a whole number in [least, most]; numbers above int64's range fall outside too.
std::optional<int64_t> whole_number(const Json& value, int64_t least, int64_t most) {
  if (!value.is_number_integer()) return {};
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(most)) return {};
  const auto number = value.get<int64_t>();
  if (number < least || number > most) return {};
  return number;
}

}  // namespace

std::string shown(const Json& value) {
  constexpr size_t kLongest = 60;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);  // ASCII: may be cut anywhere
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

ConfigReader::ConfigReader(const Json& object, std::string prefix) : object_(object), prefix_(std::move(prefix)) {
  check(
      object.is_object(), "[config] {} is {}: allowed is a JSON object with keys and values",
      [&] { return prefix_.empty() ? "the whole" : prefix_.substr(0, prefix_.size() - 1); },
      [&] { return shown(object); });
}

void ConfigReader::wrong(std::string_view key, const Json& value, std::string_view allowed) const {
  fail("[config] {}{} is {}: allowed is {}", prefix_, key, shown(value), allowed);
}

void ConfigReader::missing(std::string_view key, std::string_view allowed) const {
  std::vector<std::string> present;
  for (const auto& item : object_.items())
    if (item.key() != key) present.push_back(item.key());  // it may be there as null
  const std::string hint = did_you_mean(key, std::vector<std::string_view>(present.begin(), present.end()));
  throw MissingKeys(fmt::format("[config] {}{} is missing: allowed is {}{}", prefix_, key, allowed, hint),
                    {fmt::format("{}{}", prefix_, key)});
}

const Json* ConfigReader::find(std::string_view key) {
  std::string text(key);
  const auto found = object_.find(text);
  if (std::find(asked_.begin(), asked_.end(), text) == asked_.end()) asked_.push_back(std::move(text));
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

int64_t ConfigReader::size(std::string_view key) {
  if (!has(key)) missing(key, "a whole number from 1");
  return size(key, 0);
}

int64_t ConfigReader::size(std::string_view key, int64_t fallback) {
  const Json* value = find(key);
  if (!value) return fallback;
  const auto number = whole_number(*value, 1, kMaxSize);
  if (!number) wrong(key, *value, "a whole number from 1 to " + std::to_string(kMaxSize));
  return *number;
}

bool ConfigReader::flag(std::string_view key, bool fallback) {
  const Json* value = find(key);
  if (!value) return fallback;
  if (!value->is_boolean()) wrong(key, *value, "true or false");
  return value->get<bool>();
}

std::optional<double> ConfigReader::number(std::string_view key, std::string_view allowed) {
  const Json* value = find(key);
  if (!value) return {};
  if (!value->is_number() || !std::isfinite(value->get<double>())) wrong(key, *value, allowed);
  return value->get<double>();
}

double ConfigReader::positive(std::string_view key, double fallback) {
  const double value = number(key, "a number above 0").value_or(fallback);
  if (value <= 0) wrong(key, value, "a number above 0");
  return value;
}

double ConfigReader::at_least_zero(std::string_view key, double fallback) {
  const double value = number(key, "a number from 0").value_or(fallback);
  if (value < 0) wrong(key, value, "a number from 0");
  return value;
}

double ConfigReader::dropout(std::string_view key, double fallback) {
  constexpr std::string_view kAllowed = "a probability from 0 to below 1";
  const double value = number(key, kAllowed).value_or(fallback);
  if (value < 0 || value >= 1) wrong(key, value, kAllowed);
  return value;
}

std::optional<int64_t> ConfigReader::token(std::string_view key, int64_t vocab, std::optional<int64_t> fallback) {
  const Json* value = find(key);
  if (!value) return fallback && *fallback < vocab ? fallback : std::nullopt;
  std::optional<int64_t> first;
  bool good = !value->is_array() || !value->empty();
  for (const Json& item : value->is_array() ? *value : Json::array({*value})) {
    const auto id = whole_number(item, -1, vocab - 1);
    good = good && id;
    if (!first) first = id;
  }
  if (!good) wrong(key, *value, "a token id below vocab_size " + std::to_string(vocab) + ", or null");
  return *first < 0 ? std::nullopt : first;
}

std::vector<std::string> ConfigReader::never_asked() const {
  std::vector<std::string> keys;
  for (const auto& item : object_.items()) {
    const bool known = std::find(asked_.begin(), asked_.end(), item.key()) != asked_.end();
    if (!known && !item.value().is_null()) keys.push_back(item.key());
  }
  return keys;
}

}  // namespace limpid
