#pragma once
// ConfigReader: the values of one JSON object by key and type. A wrong type or range is an Error that names the key,
// the value and what is allowed. A value of null counts as absent. Which keys were asked for is remembered, so that
// what nobody asked for can be noted.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace limpid {

class ConfigReader {
 public:
  using Json = nlohmann::ordered_json;
  template <class T>
  using Names = std::vector<std::pair<std::string_view, T>>;

  // Sizes and token ids are at most this: positions and token ids are 32-bit numbers.
  static constexpr int64_t kMaxSize = INT32_MAX;

  // `prefix` stands before keys in messages: "limpid." for that object.
  explicit ConfigReader(const Json& object, std::string prefix = "");

  const Json* find(std::string_view key);  // null where absent
  bool has(std::string_view key) { return find(key) != nullptr; }

  int64_t size(std::string_view key);  // required; from 1 to kMaxSize
  int64_t size(std::string_view key, int64_t fallback);
  bool flag(std::string_view key, bool fallback);
  double positive(std::string_view key, double fallback);  // above 0
  double at_least_zero(std::string_view key, double fallback);
  double dropout(std::string_view key, double fallback);  // in [0, 1)
  // A token id below the size of the vocabulary. The fallback counts only where the vocabulary has it. -1 stands for
  // none, and of a list (several ends of sequence) the first is taken.
  std::optional<int64_t> token(std::string_view key, int64_t vocab, std::optional<int64_t> fallback = {});

  // What a text of a fixed list means.
  template <class T>
  T choice(std::string_view key, const Names<T>& names) {  // required
    if (!has(key)) missing(key, listed(names));
    return choice(key, T{}, names);
  }
  template <class T>
  T choice(std::string_view key, T fallback, const Names<T>& names) {
    const Json* value = find(key);
    if (!value) return fallback;
    for (const auto& [name, meaning] : names)
      if (value->is_string() && value->get_ref<const std::string&>() == name) return meaning;
    wrong(key, *value, listed(names));
  }

  [[noreturn]] void wrong(std::string_view key, const Json& value, std::string_view allowed) const;
  [[noreturn]] void missing(std::string_view key, std::string_view allowed) const;  // throws MissingKeys

  const Json& json() const { return object_; }
  bool was_asked(std::string_view key) const { return std::find(asked_.begin(), asked_.end(), key) != asked_.end(); }
  std::vector<std::string_view> asked() const { return {asked_.begin(), asked_.end()}; }
  std::vector<std::string> never_asked() const;  // keys that stand in the object with a value

 private:
  template <class T>
  static std::string listed(const Names<T>& names) {
    std::string text;
    for (const auto& name : names) text.append(text.empty() ? "\"" : ", \"").append(name.first).append("\"");
    return text;
  }
  std::optional<double> number(std::string_view key, std::string_view allowed);

  const Json& object_;
  std::string prefix_;
  std::vector<std::string> asked_;
};

// A value as messages show it: JSON, shortened.
std::string shown(const nlohmann::ordered_json& value);

}  // namespace limpid
