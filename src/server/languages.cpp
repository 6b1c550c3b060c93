#include "server/languages.h"

#include <algorithm>
#include <map>
#include <regex>

#include "text/utf8.h"

namespace limpid {
namespace {

struct Language {
  const char *name, *script;
};

const std::map<std::string, Language>& known() {
  static const std::map<std::string, Language> kLanguages = {
      {"ar", {"Arabic", "arabic"}},    {"cs", {"Czech", "latin"}},        {"da", {"Danish", "latin"}},
      {"de", {"German", "latin"}},     {"el", {"Greek", "greek"}},        {"en", {"English", "latin"}},
      {"es", {"Spanish", "latin"}},    {"fi", {"Finnish", "latin"}},      {"fr", {"French", "latin"}},
      {"he", {"Hebrew", "hebrew"}},    {"hi", {"Hindi", "devanagari"}},   {"hu", {"Hungarian", "latin"}},
      {"id", {"Indonesian", "latin"}}, {"it", {"Italian", "latin"}},      {"ja", {"Japanese", "kana"}},
      {"ko", {"Korean", "hangul"}},    {"nl", {"Dutch", "latin"}},        {"no", {"Norwegian", "latin"}},
      {"pl", {"Polish", "latin"}},     {"pt", {"Portuguese", "latin"}},   {"ro", {"Romanian", "latin"}},
      {"ru", {"Russian", "cyrillic"}}, {"sv", {"Swedish", "latin"}},      {"th", {"Thai", "thai"}},
      {"tr", {"Turkish", "latin"}},    {"uk", {"Ukrainian", "cyrillic"}}, {"vi", {"Vietnamese", "latin"}},
      {"zh", {"Chinese", "han"}},
  };
  return kLanguages;
}

// The script of a letter; null for what is no letter of a script listed here.
const char* script_of(char32_t c) {
  struct Range {
    char32_t first, last;
    const char* script;
  };
  static constexpr Range kRanges[] = {
      {'A', 'Z', "latin"},        {'a', 'z', "latin"},        {0xC0, 0x24F, "latin"},     {0x370, 0x3FF, "greek"},
      {0x400, 0x52F, "cyrillic"}, {0x590, 0x5FF, "hebrew"},   {0x600, 0x6FF, "arabic"},   {0x900, 0x97F, "devanagari"},
      {0xE00, 0xE7F, "thai"},     {0x1100, 0x11FF, "hangul"}, {0x1E00, 0x1EFF, "latin"},  {0x3040, 0x30FF, "kana"},
      {0x3130, 0x318F, "hangul"}, {0x3400, 0x9FFF, "han"},    {0xAC00, 0xD7AF, "hangul"},
  };
  for (const Range& range : kRanges)
    if (c >= range.first && c <= range.last) return range.script;
  return nullptr;
}

// How many letters of a text are of each script.
std::map<std::string, int64_t> scripts_of(std::string_view text) {
  std::map<std::string, int64_t> letters;
  each_code_point(text, [&](char32_t c, std::string_view) {
    if (const char* script = script_of(c)) ++letters[script];
  });
  return letters;
}

}  // namespace

LanguagePair parse_language_pair(const std::string& text) {
  static const std::regex kPair("([a-z]{2,3})-([a-z]{2,3})");
  std::smatch parts;
  check(std::regex_match(text, parts, kPair), "[server] \"{}\" is no pair of languages: say en-ko", text);
  return {parts[1], parts[2]};
}

std::optional<LanguagePair> language_pair_of(const std::string& id) {
  static const std::regex kEnd("(?:^|.*[-_.])([a-z]{2,3})[-_]([a-z]{2,3})");
  std::smatch parts;
  if (!std::regex_match(id, parts, kEnd) || !known().contains(parts[1]) || !known().contains(parts[2]))
    return std::nullopt;
  return LanguagePair{parts[1], parts[2]};
}

std::string language_name(const std::string& code) {
  const auto found = known().find(code);
  return found == known().end() ? code : found->second.name;
}

bool has_letters(std::string_view text) { return !scripts_of(text).empty(); }

std::optional<DetectedLanguage> detect_language(std::string_view text, const std::vector<std::string>& languages) {
  std::map<std::string, int64_t> letters = scripts_of(text);
  if (letters.empty()) return std::nullopt;
  int64_t all = 0;
  for (const auto& [script, count] : letters) all += count;
  if (letters.contains("kana")) letters["kana"] += letters["han"];  // Japanese is written with both
  const auto most = std::max_element(letters.begin(), letters.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  std::optional<DetectedLanguage> result;
  for (const std::string& code : languages) {
    const auto found = known().find(code);
    if (found == known().end() || found->second.script != most->first) continue;
    if (result) return std::nullopt;
    result = {code, 100.0 * static_cast<double>(std::min(most->second, all)) / static_cast<double>(all)};
  }
  return result;
}

}  // namespace limpid
