#include "server/request_fields.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/nearest.h"
#include "server/http.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void wrong(const std::string& name, const std::string& what) {
  throw HttpError(400, fmt::format("\"{}\" {}.", name, what), {.param = name});
}

int64_t whole_of(const Json& value, const std::string& name) {
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>() &&
      std::abs(value.get<double>()) < 1e15)
    return static_cast<int64_t>(value.get<double>());
  wrong(name, "is to be a whole number");
}

}  // namespace

RequestFields::RequestFields(const Json& object) : object_(object) {
  if (!object.is_object()) throw HttpError(400, "The body is to be a JSON object: {\"text\": \"…\"}.");
}

const Json* RequestFields::any(const std::string& name) {
  known_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

bool RequestFields::has(const std::string& name) const {
  const auto found = object_.find(name);
  return found != object_.end() && !found->is_null();
}

bool RequestFields::given(const std::string& name) const { return object_.contains(name); }

std::string RequestFields::text(const std::string& name, std::string_view otherwise) {
  const Json* value = any(name);
  if (!value) return std::string(otherwise);
  if (!value->is_string()) wrong(name, "is to be a text");
  return value->get<std::string>();
}

int64_t RequestFields::whole(const std::string& name, int64_t otherwise, int64_t least, int64_t most) {
  const Json* value = any(name);
  const int64_t number = value ? whole_of(*value, name) : otherwise;
  if (value && (number < least || number > most)) wrong(name, fmt::format("is to be {} to {}", least, most));
  return number;
}

double RequestFields::number(const std::string& name, double otherwise) {
  const Json* value = any(name);
  if (!value) return otherwise;
  if (!value->is_number() || !std::isfinite(value->get<double>())) wrong(name, "is to be a number");
  return value->get<double>();
}

bool RequestFields::flag(const std::string& name, bool otherwise) {
  const Json* value = any(name);
  if (!value) return otherwise;
  if (!value->is_boolean()) wrong(name, "is to be true or false");
  return value->get<bool>();
}

std::vector<std::string> RequestFields::texts(const std::string& name) {
  const Json* value = any(name);
  std::vector<std::string> texts;
  if (!value) return texts;
  if (value->is_string()) return {value->get<std::string>()};
  if (!value->is_array()) wrong(name, "is to be a list of texts");
  for (const Json& one : *value) {
    if (!one.is_string()) wrong(name, "is to be a list of texts");
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

std::vector<int64_t> RequestFields::wholes(const std::string& name) {
  const Json* value = any(name);
  std::vector<int64_t> numbers;
  if (!value) return numbers;
  if (!value->is_array()) return {whole_of(*value, name)};
  for (const Json& one : *value) numbers.push_back(whole_of(one, name));
  return numbers;
}

std::vector<int32_t> RequestFields::ids(const std::string& name, int64_t vocab) {
  std::vector<int32_t> ids;
  for (const int64_t id : wholes(name)) {
    if (id < 0 || id >= vocab)
      wrong(name, fmt::format("has a token {}, the vocabulary has the tokens 0 to {}", id, vocab - 1));
    ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

void RequestFields::check_all_known() const {
  const std::vector<std::string_view> known(known_.begin(), known_.end());
  for (const auto& [name, value] : object_.items())
    if (!known_.contains(name))
      throw HttpError(400, fmt::format("There is no field \"{}\" here{}.", name, did_you_mean(name, known)),
                      {.param = name});
}

}  // namespace limpid
