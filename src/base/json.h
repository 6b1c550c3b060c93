#pragma once
// JSON from files that are not to be trusted: what is wrong becomes an Error with file, line and column. The only
// reader of JSON from outside.

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace limpid {

// Parses a text. `where` begins the message: "[json] folder/config.json" gives "[json] folder/config.json:3:14: …".
// Refused beside wrong syntax: text that is not UTF-8, a key that an object has twice (the readers of others take the
// first or the last), and nesting deeper than kMaxJsonDepth, so that what walks through a value may recurse.
inline constexpr int kMaxJsonDepth = 100;
nlohmann::json parse_json(std::string_view text, std::string_view where);
nlohmann::ordered_json parse_ordered_json(std::string_view text, std::string_view where);  // keys in the text's order

nlohmann::json read_json(const std::filesystem::path& path);

// What an exception of the JSON library says, without its own tags and numbers: for a message of ours.
std::string json_reason(const nlohmann::json::exception& error);

// A foreign text in quotes for a message: cut when long, control characters and bytes beyond ASCII as \x1b. It is made
// when the message is, so that a check that holds costs nothing.
struct InQuotes {
  std::string_view text;
  std::string string() const;
};
inline InQuotes in_quotes(std::string_view text) { return {text}; }

}  // namespace limpid

template <>
struct fmt::formatter<limpid::InQuotes> : fmt::formatter<std::string_view> {
  auto format(const limpid::InQuotes& quoted, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(quoted.string(), context);
  }
};
