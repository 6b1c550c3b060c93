#include "text/jinja_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/utf8.h"

namespace limpid::jinja {
namespace {

bool in_set(char32_t point, std::string_view set) {
  if (set.empty()) return is_space(point) || (point >= 0x1C && point <= 0x1F);
  bool found = false;
  each_code_point(set, [&](char32_t one, std::string_view) { found = found || one == point; });
  return found;
}

char32_t upper(char32_t point) { return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(point))); }
char32_t lower(char32_t point) { return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point))); }

bool is_letter(char32_t point) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(point));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

}  // namespace

std::string stripped(std::string_view text, std::string_view set, bool left, bool right) {
  size_t begin = text.size(), end = 0, at = 0;
  each_code_point(text, [&](char32_t point, std::string_view bytes) {
    if (!in_set(point, set)) {
      begin = std::min(begin, at);
      end = at + bytes.size();
    }
    at += bytes.size();
  });
  if (begin > end) return left || right ? "" : std::string(text);
  if (!left) begin = 0;
  if (!right) end = text.size();
  return std::string(text.substr(begin, end - begin));
}

std::string upper_case(std::string_view text) {
  std::string result;
  each_code_point(text, [&](char32_t point, std::string_view) { append_utf8(result, upper(point)); });
  return result;
}

std::string capitalized(std::string_view text) {
  std::string result;
  each_code_point(text, [&](char32_t point, std::string_view) {
    append_utf8(result, result.empty() ? upper(point) : lower(point));
  });
  return result;
}

std::string titled(std::string_view text) {
  std::string result;
  bool in_word = false;
  each_code_point(text, [&](char32_t point, std::string_view) {
    append_utf8(result, in_word ? lower(point) : upper(point));
    in_word = is_letter(point);
  });
  return result;
}

std::string replaced_all(std::string_view text, std::string_view what, std::string_view by, int64_t most) {
  std::string result;
  if (what.empty()) {  // between all characters
    int64_t done = 0;
    const auto add = [&] {
      if (most < 0 || done++ < most) result += by;
    };
    each_code_point(text, [&](char32_t, std::string_view bytes) {
      add();
      result += bytes;
    });
    add();
    return result;
  }
  for (size_t at; most != 0 && (at = text.find(what)) != text.npos; text.remove_prefix(at + what.size()), --most)
    result.append(text.substr(0, at)).append(by);
  return result.append(text);
}

std::vector<std::string> split_text(std::string_view text, std::string_view separator, int64_t most, bool from_right) {
  std::vector<std::string> parts;
  if (separator.empty()) {
    struct Word {
      size_t begin, end;
    };
    std::vector<Word> words;
    size_t at = 0;
    bool open = false;
    each_code_point(text, [&](char32_t point, std::string_view bytes) {
      const bool white = in_set(point, {});
      if (!white && !open) words.push_back({at, at});
      open = !white;
      at += bytes.size();
      if (open) words.back().end = at;
    });
    const size_t count = words.size();
    const auto cuts = most < 0 ? count : std::min<size_t>(static_cast<size_t>(most), count);
    if (count == 0) return parts;
    if (cuts + 1 >= count) {
      for (const Word& word : words) parts.emplace_back(text.substr(word.begin, word.end - word.begin));
    } else if (!from_right) {
      for (size_t i = 0; i < cuts; ++i) parts.emplace_back(text.substr(words[i].begin, words[i].end - words[i].begin));
      parts.push_back(stripped(text.substr(words[cuts].begin), {}, false, true));
      if (parts.back().size() < text.size() - words[cuts].begin)
        parts.back() = std::string(text.substr(words[cuts].begin));
    } else {
      parts.emplace_back(text.substr(0, words[count - cuts - 1].end));
      for (size_t i = count - cuts; i < count; ++i)
        parts.emplace_back(text.substr(words[i].begin, words[i].end - words[i].begin));
    }
    return parts;
  }
  if (from_right && most >= 0) {
    for (size_t at; most > 0 && (at = text.rfind(separator)) != text.npos; text = text.substr(0, at), --most)
      parts.emplace_back(text.substr(at + separator.size()));
    parts.emplace_back(text);
    std::reverse(parts.begin(), parts.end());
    return parts;
  }
  for (size_t at; most != 0 && (at = text.find(separator)) != text.npos;
       text.remove_prefix(at + separator.size()), --most)
    parts.emplace_back(text.substr(0, at));
  parts.emplace_back(text);
  return parts;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    if (text.starts_with("\r\n"))
      text.remove_prefix(2);
    else if (!text.empty())
      text.remove_prefix(1);
  }
  return lines;
}

}  // namespace limpid::jinja
