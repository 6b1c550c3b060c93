#include "scoring/text_checks.h"

#include <algorithm>

#include "scoring/python_text.h"

namespace limpid {
namespace {

bool is_letter(char32_t c) {
  const auto category = unicode_category(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool is_hangul(char32_t c) {  // syllables; jamo, and those of compatibility
  return (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0x1100 && c <= 0x11FF) || (c >= 0x3130 && c <= 0x318F);
}

}  // namespace

int64_t tokenized_lines(std::span<const std::string> lines) {
  return std::ranges::count_if(lines, [](const std::string& line) {
    const std::u32string text = code_points(line);
    return trim_end(text).ends_with(U" .");
  });
}

double hangul_share(std::span<const std::string> lines) {
  int64_t letters = 0, hangul = 0;
  for (const std::string& line : lines)
    for (const char32_t c : code_points(line)) {
      letters += is_letter(c) ? 1 : 0;
      hangul += is_hangul(c) ? 1 : 0;
    }
  return letters == 0 ? 0 : static_cast<double>(hangul) / static_cast<double>(letters);
}

}  // namespace limpid
