#pragma once
// What Python's texts do, for filters and methods.

#include <string>
#include <string_view>
#include <vector>

namespace limpid::jinja {

// Without the characters of a set at either end; the set empty: white space.
std::string stripped(std::string_view text, std::string_view set, bool left, bool right);
std::string upper_case(std::string_view text);
std::string capitalized(std::string_view text);  // "the END" is "The end"
std::string titled(std::string_view text);       // "the END" is "The End"
std::string replaced_all(std::string_view text, std::string_view what, std::string_view by, int64_t most);
// Cut at a separator, or where that is empty at runs of white space; at most so many cuts (-1: all), from the right
// where asked for.
std::vector<std::string> split_text(std::string_view text, std::string_view separator, int64_t most, bool from_right);
std::vector<std::string> lines_of(std::string_view text);

}  // namespace limpid::jinja
