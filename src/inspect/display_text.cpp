#include "inspect/display_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/utf8.h"

namespace limpid {
namespace {

int64_t width_of(char32_t code) { return std::max(utf8proc_charwidth(static_cast<utf8proc_int32_t>(code)), 0); }

}  // namespace

int64_t display_width(std::string_view text) {
  int64_t width = 0;
  each_code_point(text, [&](char32_t code, std::string_view) { width += width_of(code); });
  return width;
}

std::string pad_left(std::string_view text, int64_t width) {
  return std::string(static_cast<size_t>(std::max<int64_t>(width - display_width(text), 0)), ' ') + std::string(text);
}

std::string pad_right(std::string_view text, int64_t width) {
  return std::string(text) + std::string(static_cast<size_t>(std::max<int64_t>(width - display_width(text), 0)), ' ');
}

std::string cut_to(std::string_view text, int64_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string result;
  int64_t used = 0;
  for (const std::string& character : characters(text)) {
    used += display_width(character);
    if (used > width - 1) break;
    result += character;
  }
  return width > 0 ? result + "…" : "";
}

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> result;
  each_code_point(text, [&](char32_t code, std::string_view bytes) {
    if (result.empty() || width_of(code) > 0)
      result.emplace_back(bytes);
    else
      result.back() += bytes;
  });
  return result;
}

std::string visible(std::string_view token) {
  std::string result;
  each_code_point(token, [&](char32_t code, std::string_view bytes) {
    if (code == '\n')
      result += "↵";
    else if (code < 0x20)
      append_utf8(result, 0x2400 + code);  // Control Pictures
    else if (code == ' ')
      result += "·";
    else if (code == 0x7f || utf8proc_category(static_cast<utf8proc_int32_t>(code)) == UTF8PROC_CATEGORY_CC)
      result += "␡";
    else
      result += bytes;
  });
  return result;
}

}  // namespace limpid
