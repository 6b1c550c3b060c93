#pragma once
// The fields of a request's JSON object, each read with its type and range checked. What nobody asked for is named in a
// refusal, so that a misspelt field does not go unnoticed.

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/http.h"

namespace limpid {

// A request's body. Throws HttpError 400 where it is no JSON, and for a field that the route does not take.
nlohmann::json parse_body(const Request& request);
// The same for a route that takes others than it declares.
nlohmann::json parse_body(const std::string& body);

// One of "text:string prompt:any!", as routes declare their fields.
struct DeclaredField {
  std::string_view name, type;
  bool required = false;
};
std::vector<DeclaredField> declared_fields(std::string_view text);

class JsonFields {
 public:
  // Both throw HttpError 400 where it is no JSON object.
  explicit JsonFields(const Request& request);
  explicit JsonFields(nlohmann::json object);

  bool has(const std::string& name) const;    // there, and not null
  bool given(const std::string& name) const;  // there, be it null

  // A field that is absent or null is nullopt, null, an empty list, or what is given for this case.
  std::optional<double> number(const std::string& name, double low, double high);
  double number(const std::string& name, double otherwise);
  std::optional<int64_t> whole(const std::string& name, int64_t low, int64_t high);
  int64_t whole(const std::string& name, int64_t otherwise, int64_t low, int64_t high);
  bool flag(const std::string& name, bool otherwise = false);
  std::string text(const std::string& name, std::string_view otherwise = "");
  std::vector<std::string> texts(const std::string& name);           // a text alone counts as a list of one
  std::vector<int64_t> wholes(const std::string& name);              // a number alone counts as a list of one
  std::vector<int32_t> ids(const std::string& name, int64_t vocab);  // of tokens
  const nlohmann::json* any(const std::string& name);
  const nlohmann::json& needed(const std::string& name);

  // Fields that may be there and change nothing.
  void ignore(std::initializer_list<const char*> names);
  // A field that is refused unless it has the value that changes nothing.
  void unless(const std::string& name, const nlohmann::json& harmless);
  // After all that are known: throws for any other, though it were declared.
  void finish() const;

  [[noreturn]] static void refuse(const std::string& name, const std::string& message);

 private:
  nlohmann::json object_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace limpid
