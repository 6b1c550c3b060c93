#pragma once
// The fields of a request's JSON object, each read with its type and range checked. What nobody asked for is named in a
// refusal, so that a misspelt field does not go unnoticed.

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http.h"

namespace limpid {

class JsonFields {
 public:
  explicit JsonFields(std::string_view body);  // throws HttpError 400 where the body is no JSON object

  // A field that is absent or null is nullopt, or null.
  std::optional<double> number(const char* name, double low, double high);
  std::optional<int64_t> whole(const char* name, int64_t low, int64_t high);
  std::optional<bool> flag(const char* name);
  std::optional<std::string> text(const char* name);
  const nlohmann::json* any(const char* name);
  const nlohmann::json& needed(const char* name);

  // Fields that may be there and change nothing.
  void ignore(std::initializer_list<const char*> names);
  // A field that is refused unless it has the value that changes nothing.
  void unless(const char* name, const nlohmann::json& harmless);
  // After all that are known: throws for any other.
  void finish() const;

  [[noreturn]] static void refuse(const std::string& name, const std::string& message);

 private:
  nlohmann::json object_;
  std::vector<std::string> known_;
};

}  // namespace limpid
