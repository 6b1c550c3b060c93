#pragma once
// What every SVG here begins with: size, fonts, white paper, title.

#include <string>
#include <string_view>

namespace limpid {

std::string svg_begin(double width, double height, std::string_view title);
std::string svg_escaped(std::string_view text);

}  // namespace limpid
