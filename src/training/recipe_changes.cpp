#include "training/recipe_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

bool changes_result(std::string_view key, const Recipe& before, const Recipe& now) {
  if (key == "checkpoint.steps") return before.checkpoint.average > 0 || now.checkpoint.average > 0;
  if (key == "tokenizer.sampling") return true;
  constexpr std::array kFree = {std::string_view("description"),     std::string_view("note"),
                                std::string_view("score"),           std::string_view("time"),
                                std::string_view("validation.show"), std::string_view("checkpoint.keep")};
  return std::find(kFree.begin(), kFree.end(), key) == kFree.end() && !key.starts_with("data.") &&
         !key.starts_with("stop.") && !key.starts_with("decode.") && !key.starts_with("tokenizer.");
}

}  // namespace

std::vector<std::string> result_changes(const Recipe& before, const Recipe& now) {
  const auto old_list = recipe_values(before), new_list = recipe_values(now);
  const std::map<std::string, Json> old_values(old_list.begin(), old_list.end());
  const std::map<std::string, Json> new_values(new_list.begin(), new_list.end());
  std::set<std::string> keys;
  for (const auto* values : {&old_values, &new_values})
    for (const auto& [key, value] : *values) keys.insert(key);
  std::vector<std::string> changes;
  for (const std::string& key : keys) {
    const auto value = [&](const std::map<std::string, Json>& values) {
      const auto found = values.find(key);
      return found == values.end() ? Json() : found->second;
    };
    const auto text = [](const Json& json) { return json.is_null() ? "not set" : json.dump(); };
    const Json was = value(old_values), is = value(new_values);
    if (was != is && changes_result(key, before, now))
      changes.push_back(fmt::format("{} {} → {}", key, text(was), text(is)));
  }
  return changes;
}

}  // namespace limpid
