#include "inspect/place.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace limpid {
namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> items;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    items.push_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  return items;
}

bool parse_number(std::string_view text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

void add_range(std::string_view item, std::string_view whole, std::vector<IndexRange>& into) {
  IndexRange range;
  check(parse_range(item, range.first, range.last) && range.first >= 0 && range.first <= range.last,
        "[look] \"{}\" in {} is no number or range: write 12, 4..6, head 2 or key 3", item, whole);
  into.push_back(range);
}

void parse_columns(std::string_view inside, std::string_view whole, Place& place) {
  for (std::string_view item : split(inside)) {
    if (item.starts_with("head "))
      add_range(trimmed(item.substr(5)), whole, place.heads);
    else if (item.starts_with("key "))
      add_range(trimmed(item.substr(4)), whole, place.keys);
    else
      add_range(item, whole, place.features);
  }
  check(place.features.empty() || place.heads.empty(),
        "[look] {} names heads and features: a feature says which head it is in", whole);
}

// "▁Jordan" and "ĠJordan" are the word Jordan to those who name a position.
std::string_view without_space_mark(std::string_view piece) {
  for (std::string_view mark : {"▁", "Ġ", " "})
    if (piece.starts_with(mark) && piece.size() > mark.size()) return piece.substr(mark.size());
  return piece;
}

// The numbers below `count` that are marked, in order.
std::vector<int64_t> marked(const std::vector<bool>& marks) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < marks.size(); ++i)
    if (marks[i]) numbers.push_back(static_cast<int64_t>(i));
  return numbers;
}

void mark(std::vector<bool>& marks, int64_t first, int64_t last) {
  std::fill(marks.begin() + first, marks.begin() + last + 1, true);
}

// The numbers that the ranges name, all of `count` where there are none.
std::vector<int64_t> chosen(const std::vector<IndexRange>& ranges, int64_t count, const char* what,
                            const TapInfo& tap) {
  std::vector<bool> marks(static_cast<size_t>(count), ranges.empty());
  for (const IndexRange& range : ranges) {
    check(range.last < count, "[look] {} has no {} {}: it has {}, 0 … {}", tap.name, what, range.last, count,
          count - 1);
    mark(marks, range.first, range.last);
  }
  return marked(marks);
}

}  // namespace

bool parse_range(std::string_view text, int64_t& first, int64_t& last) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return parse_number(text, first) && parse_number(text, last);
  return parse_number(trimmed(text.substr(0, dots)), first) && parse_number(trimmed(text.substr(dots + 2)), last);
}

Place parse_place(std::string_view text) {
  Place place;
  const std::string_view whole = trimmed(text);
  const size_t open = whole.find('['), close = whole.find(']');
  check((open == std::string_view::npos) == (close == std::string_view::npos) &&
            (open == std::string_view::npos || open < close),
        "[look] the brackets of {} do not match: write tap[features]@positions", whole);
  const size_t at = whole.find('@', close == std::string_view::npos ? 0 : close);
  place.tap = trimmed(whole.substr(0, std::min(open, at)));
  check(!place.tap.empty(), "[look] \"{}\" names no tap: write tap[features]@positions", whole);
  if (open != std::string_view::npos) {
    parse_columns(whole.substr(open + 1, close - open - 1), whole, place);
    check(trimmed(whole.substr(close + 1, at == std::string_view::npos ? at : at - close - 1)).empty(),
          "[look] {} has something between ] and @: write tap[features]@positions", whole);
  }
  if (at == std::string_view::npos) return place;
  for (std::string_view item : split(whole.substr(at + 1))) {
    PositionRange range;
    check(!item.empty(), "[look] {} has an empty position behind @: leave the @ out for all positions", whole);
    if (!parse_range(item, range.first, range.last)) range.token = item;
    place.positions.push_back(range);
  }
  return place;
}

std::vector<int64_t> chosen_positions(const Place& place, int64_t count, const std::vector<std::string>& tokens) {
  std::vector<bool> marks(static_cast<size_t>(count), place.positions.empty());
  for (const PositionRange& range : place.positions) {
    if (!range.token.empty()) {
      bool found = false;
      for (size_t i = 0; i < tokens.size(); ++i)
        if (tokens[i] == range.token || without_space_mark(tokens[i]) == range.token) marks.at(i) = found = true;
      check(found, "[look] the text has no token \"{}\": name one that it has", range.token);
      continue;
    }
    const auto from_start = [&](int64_t i) { return i < 0 ? i + count : i; };
    const int64_t first = from_start(range.first), last = from_start(range.last);
    check(first >= 0 && first <= last && last < count, "[look] there is no position {}: the text has {} tokens, 0 … {}",
          first < 0 || first >= count ? range.first : range.last, count, count - 1);
    mark(marks, first, last);
  }
  return marked(marks);
}

bool is_in(const std::vector<IndexRange>& ranges, int64_t number) {
  return ranges.empty() || std::any_of(ranges.begin(), ranges.end(), [&](const IndexRange& range) {
           return range.first <= number && number <= range.last;
         });
}

std::vector<int64_t> chosen_columns(const Place& place, const TapInfo& tap) {
  if (tap.keys) {
    check(place.features.empty(), "[look] {} is of pairs: name a head and a key, [head 2, key 3]", tap.name);
    return {};
  }
  check(place.keys.empty(), "[look] {} has no keys: those are of attention's scores and patterns", tap.name);
  if (place.heads.empty()) return chosen(place.features, tap.cols, "feature", tap);
  std::vector<int64_t> columns;
  const int64_t size = tap.cols / tap.heads;
  for (int64_t head : chosen_heads(place, tap))
    for (int64_t i = 0; i < size; ++i) columns.push_back(head * size + i);
  return columns;
}

std::vector<int64_t> chosen_heads(const Place& place, const TapInfo& tap) {
  check(place.heads.empty() || tap.heads > 1 || tap.keys, "[look] {} is not split into heads: name features", tap.name);
  return chosen(place.heads, tap.heads, "head", tap);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace limpid
