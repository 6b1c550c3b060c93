#include "inspect/svg_text.h"

#include <cmath>

#include <fmt/format.h>

namespace limpid {
namespace {

constexpr const char* kCss =
    "text{font:11px 'Helvetica Neue',Arial,'Noto Sans CJK KR','Apple SD Gothic Neo','Malgun "
    "Gothic',sans-serif;fill:#222}"
    ".row{text-anchor:end}.title{font-size:12px;font-weight:600}.head{font-size:14px;font-weight:600}"
    ".name{fill:#666}.mark{font-size:10px;fill:#444}.frame{fill:none;stroke:#888;stroke-width:.6}";

}  // namespace

std::string svg_begin(double width, double height, std::string_view title) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\">\n"
      "<style>{2}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height, kCss);
  if (!title.empty()) svg += fmt::format("<text x=\"8\" y=\"20\" class=\"head\">{}</text>\n", svg_escaped(title));
  return svg;
}

std::string svg_escaped(std::string_view text) {
  std::string result;
  for (char c : text) switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;  // XML allows no controls
    }
  return result;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  std::string text = fmt::format("{:.4g}", value);
  if (text[0] == '-') text.replace(0, 1, "−");
  return text;
}

}  // namespace limpid
