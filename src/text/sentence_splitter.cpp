#include "text/sentence_splitter.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "text/utf8.h"

namespace limpid {
namespace {

template <size_t N>
bool is_one_of(char32_t c, const std::array<char32_t, N>& set) {
  return std::find(set.begin(), set.end(), c) != set.end();
}

bool is_wide_end(char32_t c) {  // 。｡！？ and their presentation forms
  return is_one_of(c, std::array{U'\u3002', U'\uFF61', U'\uFF01', U'\uFF1F', U'\uFF0E'});
}
bool is_end(char32_t c) {  // with the Arabic and Urdu marks and the danda
  return is_wide_end(c) || is_one_of(c, std::array{U'.', U'!', U'?', U'\u2026', U'\u203C', U'\u2047', U'\u2048',
                                                   U'\u2049', U'\u061F', U'\u06D4', U'\u0964'});
}
bool is_closing(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return c == U'"' || c == U'\'' || category == UTF8PROC_CATEGORY_PE || category == UTF8PROC_CATEGORY_PF ||
         c == U'\u201C';  // “ closes in German
}
bool is_opening(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return c == U'"' || c == U'\'' || c == U'-' || c == U'\u2013' || c == U'\u2014' || c == U'\u00BF' || c == U'\u00A1' ||
         category == UTF8PROC_CATEGORY_PS || category == UTF8PROC_CATEGORY_PI;
}
bool is_letter(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}
bool is_small(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_LL; }
bool is_digit(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ND; }

// Han, kana and the punctuation that goes with them: written without spaces. Hangul has spaces.
bool is_spaceless(char32_t c) {
  return (c >= 0x2E80 && c <= 0x30FF) || (c >= 0x31F0 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0xFF01 && c <= 0xFF9F) || (c >= 0x20000 && c <= 0x3FFFF);
}

// In small letters, without the full stop at the end. English, German, French, Spanish, Italian and Portuguese.
constexpr std::string_view kAbbreviations[] = {
    "mr",   "mrs",  "ms",   "dr",   "prof", "st",   "sr",   "jr",   "gen",  "col",  "capt", "lt",  "sgt",
    "rev",  "hon",  "sen",  "rep",  "gov",  "pres", "vs",   "e.g",  "i.e",  "cf",   "al",   "viz", "approx",
    "nos",  "vol",  "fig",  "figs", "eq",   "pp",   "eds",  "inc",  "ltd",  "corp", "dept", "est", "jan",
    "feb",  "apr",  "jun",  "jul",  "aug",  "sept", "sep",  "oct",  "nov",  "dec",  "mt",   "ft",  "ave",
    "blvd", "z.b",  "d.h",  "u.a",  "o.ä",  "bzw",  "ca",   "evtl", "ggf",  "inkl", "nr",   "s.o", "s.u",
    "usf",  "vgl",  "dipl", "abs",  "hrsg", "mio",  "mrd",  "tel",  "sog",  "geb",  "gest", "mm",  "mme",
    "mlle", "p.ex", "env",  "sra",  "srta", "dra",  "ud",   "uds",  "p.ej", "sig",  "dott", "ecc", "pag",
    "exmo", "av",   "núm",  "num",  "tab",  "resp", "incl", "excl"};

struct Place {
  char32_t value = 0;
  size_t begin = 0, end = 0;  // bytes
};

std::vector<Place> places_of(std::string_view text) {
  std::vector<Place> places;
  size_t at = 0;
  each_code_point(text, [&](char32_t c, std::string_view bytes) {
    places.push_back({c, at, at + bytes.size()});
    at += bytes.size();
  });
  return places;
}

// Whether the full stop at `stop` belongs to the word before it.
bool stop_is_of_word(std::string_view text, const std::vector<Place>& places, size_t stop) {
  size_t first = stop;
  while (first > 0 && !is_space(places[first - 1].value) && !is_opening(places[first - 1].value)) --first;
  if (first == stop) return false;
  const size_t length = stop - first;
  const auto all_digits = [&] {
    return std::all_of(places.begin() + static_cast<ptrdiff_t>(first), places.begin() + static_cast<ptrdiff_t>(stop),
                       [](const Place& place) { return is_digit(place.value); });
  };
  if (length == 1 && is_letter(places[first].value) && !is_spaceless(places[first].value))
    return places[first].value < 0xAC00 || places[first].value > 0xD7A3;  // an initial; a syllable of Hangul is a word
  if (length <= 2 && all_digits()) return true;
  const std::string word = lower_case(text.substr(places[first].begin, places[stop].begin - places[first].begin));
  // Single letters with full stops between them: "U.S", "a.m", "z.B".
  const bool lettered = length >= 3 && length % 2 == 1 && places[first + 1].value == U'.' &&
                        places[stop - 2].value == U'.' && is_letter(places[stop - 1].value);
  return lettered || std::find(std::begin(kAbbreviations), std::end(kAbbreviations), word) != std::end(kAbbreviations);
}

// Whether a sentence ends before place `next`, behind the mark at `mark` and the marks and closing signs after it.
bool ends_here(std::string_view text, const std::vector<Place>& places, size_t mark, size_t next) {
  if (next == places.size()) return true;
  const auto wide = [&](const Place& place) { return is_wide_end(place.value); };
  if (std::any_of(places.begin() + static_cast<ptrdiff_t>(mark), places.begin() + static_cast<ptrdiff_t>(next), wide))
    return true;
  if (!is_space(places[next].value)) return false;
  size_t begin = next;
  while (begin < places.size() && (is_space(places[begin].value) || is_opening(places[begin].value))) ++begin;
  if (begin == places.size()) return true;
  if (is_small(places[begin].value)) return false;
  return places[mark].value != U'.' || !stop_is_of_word(text, places, mark);
}

std::string_view trimmed(std::string_view text) {
  size_t begin = text.size(), end = 0, at = 0;
  each_code_point(text, [&](char32_t c, std::string_view bytes) {
    if (!is_space(c)) {
      begin = std::min(begin, at);
      end = at + bytes.size();
    }
    at += bytes.size();
  });
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

enum class Level { clause, word, character };

// Positions (bytes) where a text may be parted, its end the last.
std::vector<size_t> parting_places(std::string_view text, Level level) {
  std::vector<size_t> result;
  const std::vector<Place> places = places_of(text);
  for (size_t i = 0; i + 1 < places.size(); ++i) {
    const char32_t c = places[i].value, next = places[i + 1].value;
    const bool wide = is_one_of(c, std::array{U'\u3001', U'\uFF0C', U'\uFF1B', U'\uFF1A'});
    const bool mark = is_one_of(c, std::array{U',', U';', U':', U'\u2013', U'\u2014', U'\u060C', U'\u061B'});
    const bool here = level == Level::clause ? wide || (mark && is_space(next))
                      : level == Level::word ? is_space(c)
                                             : true;
    if (here) result.push_back(places[i].end);
  }
  result.push_back(text.size());
  return result;
}

void append_parts(std::string_view text, Level level, const std::function<bool(std::string_view)>& fits,
                  std::vector<std::string_view>& parts) {
  size_t begin = 0, end = 0;  // of the part that grows
  const auto give = [&] {
    if (const std::string_view part = trimmed(text.substr(begin, end - begin)); !part.empty()) parts.push_back(part);
    begin = end;
  };
  for (const size_t place : parting_places(text, level)) {
    if (!fits(trimmed(text.substr(begin, place - begin)))) {
      give();
      if (level != Level::character && !fits(trimmed(text.substr(begin, place - begin)))) {
        append_parts(text.substr(begin, place - begin), static_cast<Level>(static_cast<int>(level) + 1), fits, parts);
        begin = place;
      }
    }
    end = place;
  }
  give();
}

}  // namespace

std::vector<std::string_view> split_sentences(std::string_view text) {
  std::vector<std::string_view> sentences;
  const std::vector<Place> places = places_of(text);
  size_t begin = 0;
  const auto give = [&](size_t end) {
    if (const std::string_view part = trimmed(text.substr(begin, end - begin)); !part.empty())
      sentences.push_back(part);
    begin = end;
  };
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].value == U'\n') give(places[i].end);
    if (!is_end(places[i].value)) continue;
    size_t last = i;  // of several marks the last one before closing signs decides
    size_t next = i + 1;
    while (next < places.size() && (is_end(places[next].value) || is_closing(places[next].value))) {
      if (is_end(places[next].value)) last = next;
      ++next;
    }
    // French closes with a space before the sign.
    if (next + 1 < places.size() && is_space(places[next].value) && places[next + 1].value == U'\u00BB') next += 2;
    const size_t mark = last == i ? i : places[last].value == U'.' && places[i].value != U'.' ? i : last;
    if (ends_here(text, places, mark, next)) give(next == places.size() ? text.size() : places[next].begin);
    i = next - 1;
  }
  give(text.size());
  return sentences;
}

std::vector<std::string_view> split_to_fit(std::string_view sentence,
                                           const std::function<bool(std::string_view)>& fits) {
  std::vector<std::string_view> parts;
  append_parts(sentence, Level::clause, fits, parts);
  return parts;
}

std::string join_sentences(std::span<const std::string> parts) {
  std::string text;
  char32_t before = 0;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty() && !(is_spaceless(before) && is_spaceless(first_code_point(part).value))) text += ' ';
    text += part;
    each_code_point(part, [&](char32_t c, std::string_view) { before = c; });
  }
  return text;
}

}  // namespace limpid
