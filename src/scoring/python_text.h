#pragma once
// Text as Python's str sees it: code points, white space and lower case. sacreBLEU is defined by those, so scores that
// are to equal its own need them to the letter.

#include <utf8proc.h>

#include <string>
#include <string_view>
#include <vector>

namespace limpid {

inline utf8proc_category_t unicode_category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

// Code points of UTF-8; every byte that is not valid becomes U+FFFD.
std::u32string code_points(std::string_view text);

// str.isspace() of one character: Unicode's white space and the separators U+001C … U+001F.
bool is_python_space(char32_t c);

std::u32string_view trim_end(std::u32string_view text);                  // str.rstrip()
std::vector<std::u32string_view> split_words(std::u32string_view text);  // str.split(); views into `text`

// str.lower(): Unicode's mapping of single characters, İ as i and a dot above, and Σ at the end of a word as ς.
std::u32string python_lower(std::u32string_view text);

}  // namespace limpid
