#include "server/html_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "server/http.h"
#include "text/utf8.h"

namespace limpid {
namespace {

// ---- entities

// Of the characters from U+00A0 on, in their order.
constexpr std::string_view kLatin[] = {
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",    "copy",   "ordf",
    "laquo",  "not",    "shy",    "reg",    "macr",   "deg",    "plusmn", "sup2",   "sup3",   "acute",  "micro",
    "para",   "middot", "cedil",  "sup1",   "ordm",   "raquo",  "frac14", "frac12", "frac34", "iquest", "Agrave",
    "Aacute", "Acirc",  "Atilde", "Auml",   "Aring",  "AElig",  "Ccedil", "Egrave", "Eacute", "Ecirc",  "Euml",
    "Igrave", "Iacute", "Icirc",  "Iuml",   "ETH",    "Ntilde", "Ograve", "Oacute", "Ocirc",  "Otilde", "Ouml",
    "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",  "Uuml",   "Yacute", "THORN",  "szlig",  "agrave", "aacute",
    "acirc",  "atilde", "auml",   "aring",  "aelig",  "ccedil", "egrave", "eacute", "ecirc",  "euml",   "igrave",
    "iacute", "icirc",  "iuml",   "eth",    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",   "divide",
    "oslash", "ugrave", "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml"};

constexpr std::pair<std::string_view, char32_t> kOthers[] = {
    {"lt", '<'},        {"gt", '>'},        {"amp", '&'},       {"quot", '"'},      {"apos", '\''},
    {"OElig", 0x152},   {"oelig", 0x153},   {"Scaron", 0x160},  {"scaron", 0x161},  {"Yuml", 0x178},
    {"ensp", 0x2002},   {"emsp", 0x2003},   {"thinsp", 0x2009}, {"zwnj", 0x200C},   {"zwj", 0x200D},
    {"ndash", 0x2013},  {"mdash", 0x2014},  {"lsquo", 0x2018},  {"rsquo", 0x2019},  {"sbquo", 0x201A},
    {"ldquo", 0x201C},  {"rdquo", 0x201D},  {"bdquo", 0x201E},  {"dagger", 0x2020}, {"Dagger", 0x2021},
    {"bull", 0x2022},   {"hellip", 0x2026}, {"permil", 0x2030}, {"prime", 0x2032},  {"Prime", 0x2033},
    {"lsaquo", 0x2039}, {"rsaquo", 0x203A}, {"euro", 0x20AC},   {"trade", 0x2122},  {"larr", 0x2190},
    {"rarr", 0x2192},   {"harr", 0x2194},   {"minus", 0x2212},  {"infin", 0x221E},  {"ne", 0x2260},
    {"le", 0x2264},     {"ge", 0x2265}};

std::optional<char32_t> numbered_character(std::string_view digits) {
  const bool hexadecimal = digits.starts_with('x') || digits.starts_with('X');
  if (hexadecimal) digits.remove_prefix(1);
  uint32_t number = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, number, hexadecimal ? 16 : 10);
  const bool is_character = number > 0 && number < 0x110000 && (number < 0xD800 || number > 0xDFFF);
  return error == std::errc() && end == last && is_character ? std::optional<char32_t>(number) : std::nullopt;
}

// The character of "lt", "#39" or "#x27", if it is one.
std::optional<char32_t> character_of(std::string_view entity) {
  if (entity.starts_with('#')) return numbered_character(entity.substr(1));
  for (const auto& [name, character] : kOthers)
    if (entity == name) return character;
  const auto* const found = std::find(std::begin(kLatin), std::end(kLatin), entity);
  if (found == std::end(kLatin)) return std::nullopt;
  return static_cast<char32_t>(0xA0 + (found - std::begin(kLatin)));
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of "&name;" at the beginning of the text; 0: there is none.
size_t entity_length(std::string_view text) {
  constexpr size_t kLongest = 33;  // CounterClockwiseContourIntegral
  const size_t end = text.substr(0, kLongest).find(';');
  if (end == std::string_view::npos || end < 2) return 0;
  const std::string_view name = text.substr(1, end - 1);
  const bool named = is_letter(name[0]) || name[0] == '#';
  return named && std::all_of(name.begin() + 1, name.end(), [](char c) { return is_letter(c) || is_digit(c); })
             ? end + 1
             : 0;
}

// ---- tags

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

size_t after(std::string_view text, std::string_view end, size_t from) {
  const size_t found = text.find(end, from);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

// What stands at the beginning of a text that begins with "<".
struct Tag {
  size_t length = 0;  // 0: it is no markup
  std::string name;   // in lower case; empty: a comment and the like
  bool closes = false, empty = false;
  bool untranslated = false;  // translate="no"
};

bool is_void(std::string_view name) {
  constexpr std::string_view kVoid[] = {"area",  "base", "br",   "col",   "embed",  "hr",    "img",
                                        "input", "link", "meta", "param", "source", "track", "wbr"};
  return std::find(std::begin(kVoid), std::end(kVoid), name) != std::end(kVoid);
}

// Attributes from `at` on, to behind the ">" that ends the tag; one in quotes is none.
size_t read_attributes(std::string_view text, size_t at, Tag& tag) {
  while (at < text.size() && text[at] != '>') {
    if (is_blank(text[at]) || text[at] == '/') {
      tag.empty = text[at] == '/';
      ++at;
      continue;
    }
    tag.empty = false;
    const size_t name_end = std::min(text.find_first_of("= \t\r\n\f/>", at + 1), text.size());
    const std::string name = lower(text.substr(at, name_end - at));
    at = name_end;
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at >= text.size() || text[at] != '=') continue;
    ++at;
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at >= text.size()) break;
    const char quote = text[at];
    const bool quoted = quote == '"' || quote == '\'';
    const size_t begin = at + (quoted ? 1 : 0);
    const size_t end =
        std::min(quoted ? text.find(quote, begin) : text.find_first_of(" \t\r\n\f>", begin), text.size());
    if (name == "translate" && lower(text.substr(begin, end - begin)) == "no") tag.untranslated = true;
    at = std::min(end + (quoted ? 1 : 0), text.size());
  }
  return std::min(at + 1, text.size());
}

Tag read_tag(std::string_view text) {
  if (text.starts_with("<!--")) return {.length = after(text, "-->", 4)};
  if (text.starts_with("<!") || text.starts_with("<?")) return {.length = after(text, ">", 2)};
  Tag tag{.closes = text.starts_with("</")};
  const size_t begin = tag.closes ? 2 : 1;
  if (begin >= text.size() || !is_letter(text[begin])) return {};
  const size_t end = std::min(text.find_first_of(" \t\r\n\f/>", begin), text.size());
  tag.name = lower(text.substr(begin, end - begin));
  tag.length = read_attributes(text, end, tag);
  return tag;
}

// The length of an element that holds text alone, whatever that looks like.
size_t raw_length(std::string_view text, const Tag& open) {
  const std::string end = "</" + open.name;
  const auto same = [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); };
  const auto found =
      std::search(text.begin() + static_cast<ptrdiff_t>(open.length), text.end(), end.begin(), end.end(), same);
  const auto at = static_cast<size_t>(found - text.begin());
  return found == text.end() ? text.size() : at + read_tag(text.substr(at)).length;
}

// The length of an element to behind the tag that closes it.
size_t element_length(std::string_view text, const Tag& open) {
  size_t at = open.length;
  for (int64_t depth = 1; at < text.size();) {
    const Tag tag = text[at] == '<' ? read_tag(text.substr(at)) : Tag{};
    if (tag.name == open.name && !tag.empty) depth += tag.closes ? -1 : 1;
    at = tag.length > 0 ? at + tag.length : std::min(text.find('<', at + 1), text.size());
    if (depth == 0) break;
  }
  return at;
}

// How much of a text that begins with "<" stays as it is; 0: it is no markup.
size_t markup_length(std::string_view text) {
  const Tag tag = read_tag(text);
  if (tag.closes || tag.empty || is_void(tag.name)) return tag.length;
  if (tag.name == "script" || tag.name == "style" || tag.name == "textarea") return raw_length(text, tag);
  if (tag.untranslated || tag.name == "pre" || tag.name == "code") return element_length(text, tag);
  return tag.length;
}

}  // namespace

std::vector<HtmlPart> html_parts(std::string_view html) {
  std::vector<HtmlPart> parts;
  const auto add = [&](std::string_view text, bool stays) {
    if (parts.empty() || parts.back().stays != stays) parts.push_back({.stays = stays});
    parts.back().text += text;
  };
  while (!html.empty()) {
    const size_t plain = std::min(html.find_first_of("<&"), html.size());
    if (plain > 0) add(html.substr(0, plain), false);
    html.remove_prefix(plain);
    if (html.empty()) break;
    const size_t length = html[0] == '<' ? markup_length(html) : entity_length(html);
    const auto character =
        html[0] == '&' && length > 0 ? character_of(html.substr(1, length - 2)) : std::optional<char32_t>();
    std::string known;
    if (character) append_utf8(known, *character);
    if (length == 0 || character)  // a "<" or "&" that stands for itself, or a character
      add(length == 0 ? html.substr(0, 1) : std::string_view(known), false);
    else
      add(html.substr(0, length), true);
    html.remove_prefix(std::max<size_t>(1, length));
  }
  return parts;
}

std::string html_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else
      result += c;
  }
  return result;
}

}  // namespace limpid
