#pragma once
// What every SVG here begins with: size, fonts, white paper, title.

#include <string>
#include <string_view>

namespace limpid {

std::string svg_begin(double width, double height, std::string_view title);
std::string svg_escaped(std::string_view text);
// Four digits, with a true minus sign; "∞", "not a number".
std::string number_text(double value);

}  // namespace limpid
