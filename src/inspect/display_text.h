#pragma once
// Text in cells of a terminal: an East Asian character takes two, a combining mark none.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

int64_t display_width(std::string_view text);
std::string pad_left(std::string_view text, int64_t width);   // spaces before
std::string pad_right(std::string_view text, int64_t width);  // spaces behind
// At most `width` cells; what is longer ends in "…".
std::string cut_to(std::string_view text, int64_t width);
// The characters with the marks that combine with them.
std::vector<std::string> characters(std::string_view text);
// A token as a label: controls as their pictures (↵), a space as "·", so that nothing is invisible.
std::string visible(std::string_view token);

}  // namespace limpid
