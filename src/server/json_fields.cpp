#include "server/json_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "base/nearest.h"

namespace limpid {

using nlohmann::json;

namespace {

// 3.0 is as good as 3.
int64_t whole_of(const json& value, const std::string& name, int64_t low, int64_t high) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  if (!(number >= static_cast<double>(low) && number <= static_cast<double>(high)) || number != std::floor(number))
    JsonFields::refuse(name, fmt::format("\"{}\" must be a whole number from {} to {}.", name, low, high));
  return value.is_number_integer() ? value.get<int64_t>() : static_cast<int64_t>(number);
}

[[noreturn]] void refuse_unknown(const std::string& name, std::span<const std::string_view> known) {
  JsonFields::refuse(name,
                     fmt::format("There is no field \"{}\" here{}", name.substr(0, 100), did_you_mean(name, known)));
}

}  // namespace

json parse_body(const std::string& body) {
  if (body.find_first_not_of(" \t\r\n") == std::string::npos)
    throw HttpError(400, "The body is empty: send a JSON object.");
  try {
    return parse_json(body, "The body is no JSON");
  } catch (const Error& error) {  // without the hint at its end, which is about files
    const std::string message = error.what();
    throw HttpError(400, message.substr(0, message.rfind(": ")));
  }
}

json parse_body(const Request& request) {
  json object = parse_body(request.body);
  if (request.fields.empty() || !object.is_object()) return object;
  std::vector<std::string_view> known;
  for (const DeclaredField& field : declared_fields(request.fields)) known.push_back(field.name);
  for (const auto& [name, value] : object.items())
    if (std::find(known.begin(), known.end(), name) == known.end()) refuse_unknown(name, known);
  return object;
}

std::vector<DeclaredField> declared_fields(std::string_view text) {
  std::vector<DeclaredField> fields;
  for (size_t begin = 0; (begin = text.find_first_not_of(" \n", begin)) != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    std::string_view field = text.substr(begin, end - begin);
    begin = end;
    const bool required = field.ends_with('!');
    if (required) field.remove_suffix(1);
    const size_t colon = field.find(':');
    fields.push_back({field.substr(0, colon), field.substr(colon + 1), required});
  }
  return fields;
}

JsonFields::JsonFields(const Request& request) : JsonFields(parse_body(request)) {}

JsonFields::JsonFields(json object) : object_(std::move(object)) {
  if (!object_.is_object()) throw HttpError(400, "The body must be a JSON object.");
}

void JsonFields::refuse(const std::string& name, const std::string& message) {
  throw HttpError(400, message, {.param = name});
}

bool JsonFields::has(const std::string& name) const {
  const auto found = object_.find(name);
  return found != object_.end() && !found->is_null();
}

bool JsonFields::given(const std::string& name) const { return object_.contains(name); }

const json* JsonFields::any(const std::string& name) {
  known_.insert(name);
  return has(name) ? &object_.at(name) : nullptr;
}

const json& JsonFields::needed(const std::string& name) {
  const json* value = any(name);
  if (!value) refuse(name, fmt::format("The field \"{}\" is missing.", name));
  return *value;
}

std::optional<double> JsonFields::number(const std::string& name, double low, double high) {
  const json* value = any(name);
  if (!value) return std::nullopt;
  if (!value->is_number()) refuse(name, fmt::format("\"{}\" must be a number.", name));
  const auto number = value->get<double>();
  if (!(number >= low && number <= high))
    refuse(name, fmt::format("\"{}\" must be a number from {} to {}.", name, low, high));
  return number;
}

double JsonFields::number(const std::string& name, double otherwise) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return number(name, -kMost, kMost).value_or(otherwise);
}

std::optional<int64_t> JsonFields::whole(const std::string& name, int64_t low, int64_t high) {
  const json* value = any(name);
  return value ? std::optional(whole_of(*value, name, low, high)) : std::nullopt;
}

int64_t JsonFields::whole(const std::string& name, int64_t otherwise, int64_t low, int64_t high) {
  return whole(name, low, high).value_or(otherwise);
}

bool JsonFields::flag(const std::string& name, bool otherwise) {
  const json* value = any(name);
  if (!value) return otherwise;
  if (!value->is_boolean()) refuse(name, fmt::format("\"{}\" must be true or false.", name));
  return value->get<bool>();
}

std::string JsonFields::text(const std::string& name, std::string_view otherwise) {
  const json* value = any(name);
  if (!value) return std::string(otherwise);
  if (!value->is_string()) refuse(name, fmt::format("\"{}\" must be a text.", name));
  return value->get<std::string>();
}

std::vector<std::string> JsonFields::texts(const std::string& name) {
  const json* value = any(name);
  std::vector<std::string> texts;
  if (!value) return texts;
  if (value->is_string()) return {value->get<std::string>()};
  const auto is_text = [](const json& one) { return one.is_string(); };
  if (!value->is_array() || !std::all_of(value->begin(), value->end(), is_text))
    refuse(name, fmt::format("\"{}\" must be a list of texts.", name));
  return value->get<std::vector<std::string>>();
}

std::vector<int64_t> JsonFields::wholes(const std::string& name) {
  constexpr int64_t kMost = int64_t{1} << 53;
  const json* value = any(name);
  std::vector<int64_t> numbers;
  if (!value) return numbers;
  if (!value->is_array()) return {whole_of(*value, name, -kMost, kMost)};
  for (const json& one : *value) numbers.push_back(whole_of(one, name, -kMost, kMost));
  return numbers;
}

std::vector<int32_t> JsonFields::ids(const std::string& name, int64_t vocab) {
  std::vector<int32_t> ids;
  for (const int64_t id : wholes(name)) {
    if (id < 0 || id >= vocab)
      refuse(name, fmt::format("\"{}\" has a token {}, the vocabulary has the tokens 0 to {}.", name, id, vocab - 1));
    ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

void JsonFields::ignore(std::initializer_list<const char*> names) { known_.insert(names.begin(), names.end()); }

void JsonFields::unless(const std::string& name, const json& harmless) {
  const json* value = any(name);
  if (value && *value != harmless) refuse(name, fmt::format("\"{}\" is not supported here: leave it out.", name));
}

void JsonFields::finish() const {
  const std::vector<std::string_view> known(known_.begin(), known_.end());
  for (const auto& [name, value] : object_.items())
    if (!known_.contains(name)) refuse_unknown(name, known);
}

}  // namespace limpid
