// The rules of 13a and intl rewrite the line in passes, each from left to right over the result of the one before. A
// rule about two neighbours takes both and goes on behind them, so "..." is not cut as three single characters would
// be; scores depend on that.

#include "scoring/bleu_tokenizer.h"

#include <utf8proc.h>

#include <utility>

#include "scoring/python_text.h"

namespace limpid {
namespace {

constexpr std::pair<BleuTokenizer, std::string_view> kNames[] = {
    {BleuTokenizer::t13a, "13a"},
    {BleuTokenizer::intl, "intl"},
    {BleuTokenizer::character, "char"},
    {BleuTokenizer::none, "none"},
};

// Spaces around every character that `alone` holds for.
template <class Alone>
std::u32string set_apart(std::u32string_view line, Alone alone) {
  std::u32string result;
  result.reserve(line.size() * 2);
  for (const char32_t c : line)
    if (alone(c))
      result.append({U' ', c, U' '});
    else
      result += c;
  return result;
}

enum class Apart { first, second };

// Where `first` and then `second` hold for two neighbours, spaces around one of them.
template <class First, class Second>
std::u32string set_apart_in_pairs(std::u32string_view line, First first, Second second, Apart apart) {
  std::u32string result;
  result.reserve(line.size() * 2);
  for (size_t i = 0; i < line.size(); ++i) {
    const char32_t c = line[i];
    if (i + 1 == line.size() || !first(c) || !second(line[i + 1])) {
      result += c;
      continue;
    }
    const char32_t next = line[++i];
    if (apart == Apart::first)
      result.append({U' ', c, U' ', next});
    else
      result.append({c, U' ', next, U' '});
  }
  return result;
}

void replace_all(std::u32string& line, std::u32string_view from, std::u32string_view to) {
  for (size_t at = line.find(from); at != std::u32string::npos; at = line.find(from, at + to.size()))
    line.replace(at, from.size(), to);
}

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_not_digit(char32_t c) { return !is_digit(c); }
bool is_dot_or_comma(char32_t c) { return c == U'.' || c == U','; }

// ASCII's punctuation but ' , - and .
bool is_13a_symbol(char32_t c) {
  return (c >= U' ' && c <= U'&') || (c >= U'(' && c <= U'+') || c == U'/' || (c >= U':' && c <= U'@') ||
         (c >= U'[' && c <= U'`') || (c >= U'{' && c <= U'~');
}

std::u32string rewrite_13a(std::u32string_view text) {
  std::u32string line(text);
  replace_all(line, U"<skipped>", U"");
  replace_all(line, U"-\n", U"");
  replace_all(line, U"\n", U" ");
  replace_all(line, U"&quot;", U"\"");
  replace_all(line, U"&amp;", U"&");
  replace_all(line, U"&lt;", U"<");
  replace_all(line, U"&gt;", U">");
  line = set_apart(U" " + line + U" ", is_13a_symbol);
  line = set_apart_in_pairs(line, is_not_digit, is_dot_or_comma, Apart::second);
  line = set_apart_in_pairs(line, is_dot_or_comma, is_not_digit, Apart::first);
  return set_apart_in_pairs(
      line, is_digit, [](char32_t c) { return c == U'-'; }, Apart::second);
}

bool is_not_number(char32_t c) {
  return unicode_category(c) < UTF8PROC_CATEGORY_ND || unicode_category(c) > UTF8PROC_CATEGORY_NO;  // Nd, Nl, No
}
bool is_punctuation(char32_t c) {
  return unicode_category(c) >= UTF8PROC_CATEGORY_PC &&
         unicode_category(c) <= UTF8PROC_CATEGORY_PO;  // Pc, Pd, Ps, Pe, Pi, Pf, Po
}
bool is_symbol(char32_t c) {
  return unicode_category(c) >= UTF8PROC_CATEGORY_SM && unicode_category(c) <= UTF8PROC_CATEGORY_SO;  // Sm, Sc, Sk, So
}

std::u32string rewrite_intl(std::u32string_view text) {
  std::u32string line = set_apart_in_pairs(text, is_not_number, is_punctuation, Apart::second);
  line = set_apart_in_pairs(line, is_punctuation, is_not_number, Apart::first);
  return set_apart(line, is_symbol);
}

std::u32string rewrite(std::u32string_view line, BleuTokenizer tokenizer) {
  switch (tokenizer) {
    case BleuTokenizer::t13a: return rewrite_13a(line);
    case BleuTokenizer::intl: return rewrite_intl(line);
    case BleuTokenizer::character: return set_apart(line, [](char32_t) { return true; });
    case BleuTokenizer::none: break;
  }
  return std::u32string(line);
}

}  // namespace

std::string_view name(BleuTokenizer tokenizer) {
  for (const auto& [known, text] : kNames)
    if (known == tokenizer) return text;
  return "none";
}

std::optional<BleuTokenizer> find_bleu_tokenizer(std::string_view wanted) {
  for (const auto& [tokenizer, text] : kNames)
    if (text == wanted) return tokenizer;
  return std::nullopt;
}

std::vector<std::u32string> bleu_words(std::u32string_view line, BleuTokenizer tokenizer) {
  const std::u32string rewritten = rewrite(trim_end(line), tokenizer);
  const auto words = split_words(rewritten);
  return {words.begin(), words.end()};
}

}  // namespace limpid
