#pragma once
// The fields of a JSON request, read by name and type. What is of the wrong type, and what nobody has asked for, is a
// 400 that names the field.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

class RequestFields {
 public:
  // The object must outlive this.
  explicit RequestFields(const nlohmann::ordered_json& object);

  bool has(const std::string& name) const;    // there, and not null
  bool given(const std::string& name) const;  // there, be it null
  std::string text(const std::string& name, std::string_view otherwise = "");
  int64_t whole(const std::string& name, int64_t otherwise, int64_t least, int64_t most);
  double number(const std::string& name, double otherwise);
  bool flag(const std::string& name, bool otherwise = false);
  std::vector<std::string> texts(const std::string& name);  // a text alone counts as a list of one
  std::vector<int64_t> wholes(const std::string& name);     // a number alone counts as a list of one
  std::vector<int32_t> ids(const std::string& name, int64_t vocab);
  const nlohmann::ordered_json* any(const std::string& name);  // null: not there

  // After all were asked for: the ones that are there besides are mistakes.
  void check_all_known() const;

 private:
  const nlohmann::ordered_json& object_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace limpid
