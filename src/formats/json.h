#pragma once
// JSON from files that are not to be trusted: what is wrong becomes an Error with file, line and column.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace limpid {

// Parses a text. `where` begins the message: "[json] folder/config.json" gives "[json] folder/config.json:3:14: …".
// Refused beside wrong syntax: text that is not UTF-8, a key that an object has twice (the readers of others take the
// first or the last), and nesting deeper than kMaxJsonDepth.
inline constexpr int kMaxJsonDepth = 100;
nlohmann::json parse_json(std::string_view text, std::string_view where);

nlohmann::json read_json(const std::filesystem::path& path);

// A foreign text in quotes for a message: cut when long, control characters and bytes beyond ASCII as \x1b.
std::string in_quotes(std::string_view text);

}  // namespace limpid
