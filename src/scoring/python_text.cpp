#include "scoring/python_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/utf8.h"

namespace limpid {
namespace {

constexpr char32_t kCapitalSigma = 0x3A3, kSmallSigma = 0x3C3, kFinalSigma = 0x3C2;
constexpr char32_t kCapitalDottedI = 0x130, kDotAbove = 0x307;

bool between(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

// Unicode's Case_Ignorable: marks, format characters and modifiers by category, and the characters that may stand
// inside a word (Word_Break MidLetter, MidNumLet and Single_Quote).
bool case_ignorable(char32_t c) {
  constexpr std::u32string_view kInsideWords =
      U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";
  switch (unicode_category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: return kInsideWords.find(c) != std::u32string_view::npos;
  }
}

// Unicode's Cased, of characters that are not case-ignorable: letters with case by category, and ordinals, Roman
// numerals and letters in circles and squares (Other_Lowercase and Other_Uppercase).
bool cased(char32_t c) {
  switch (unicode_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT: return true;
    default:
      return c == 0xAA || c == 0xBA || between(c, 0x2160, 0x217F) || between(c, 0x24B6, 0x24E9) ||
             between(c, 0x1F130, 0x1F149) || between(c, 0x1F150, 0x1F169) || between(c, 0x1F170, 0x1F189);
  }
}

// Unicode's Final_Sigma: a cased letter before and none after, both looked for beyond what is case-ignorable.
bool ends_word(std::u32string_view text, size_t at) {
  const auto first_relevant = [](auto begin, auto end) {
    const auto found = std::find_if_not(begin, end, case_ignorable);
    return found != end && cased(*found);
  };
  const std::u32string_view before = text.substr(0, at), after = text.substr(at + 1);
  return first_relevant(before.rbegin(), before.rend()) && !first_relevant(after.begin(), after.end());
}

}  // namespace

std::u32string code_points(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  each_code_point(text, [&](char32_t c, std::string_view) { result += c; });
  return result;
}

bool is_python_space(char32_t c) {
  return between(c, 0x09, 0x0D) || between(c, 0x1C, 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         between(c, 0x2000, 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::u32string_view trim_end(std::u32string_view text) {
  while (!text.empty() && is_python_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::u32string_view> split_words(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (auto at = text.begin(); at != text.end();) {
    at = std::find_if_not(at, text.end(), is_python_space);
    const auto end = std::find_if(at, text.end(), is_python_space);
    if (at != end) words.emplace_back(at, end);
    at = end;
  }
  return words;
}

std::u32string python_lower(std::u32string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (c == kCapitalSigma)
      result += ends_word(text, i) ? kFinalSigma : kSmallSigma;
    else if (c == kCapitalDottedI)
      result.append({U'i', kDotAbove});
    else
      result += static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  }
  return result;
}

}  // namespace limpid
