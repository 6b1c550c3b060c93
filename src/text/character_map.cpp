#include "text/character_map.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "text/utf8.h"

namespace limpid {
namespace {

constexpr int kMostStrings = 32;     // that begin at one place of a text: the library's own bound
constexpr int kLongestString = 512;  // bytes; Unicode's have some dozens
constexpr size_t kLongestReplacement = 1024;

std::vector<uint32_t> units_of(std::string_view map) {
  uint32_t bytes = 0;
  std::memcpy(&bytes, map.data(), sizeof bytes);
  std::vector<uint32_t> units(bytes / sizeof(uint32_t));
  std::memcpy(units.data(), map.data() + sizeof bytes, bytes);
  return units;
}

size_t children_of(size_t node, uint32_t unit) {
  return node ^ (static_cast<size_t>(unit >> 10) << ((unit >> 9 & 1) * 8));
}

class MapChecker {
 public:
  MapChecker(std::string_view map, std::string_view where) : where_(where) {
    uint32_t bytes = 0;
    if (map.size() < sizeof bytes) wrong("ends within its size");
    std::memcpy(&bytes, map.data(), sizeof bytes);
    const size_t rest = map.size() - sizeof bytes;
    if (bytes % sizeof(uint32_t) != 0 || bytes == 0 || bytes >= rest) wrong("is cut short");
    units_ = units_of(map);
    replacements_ = map.substr(sizeof bytes + bytes);
    if (replacements_.back() != '\0') wrong("ends within a replacement");
    most_below_.assign(units_.size(), kNotSeen);
  }

  void check_all() {
    if (walk(0, 0) > kMostStrings) wrong("replaces too many strings that begin alike");
  }

 private:
  static constexpr int16_t kNotSeen = -1, kOnTheWay = -2;

  [[noreturn]] void wrong(const char* what) const {
    fail("{}: its character map {}: is the file damaged? Copy it again", where_, what);
  }

  // The most strings that end on one way from this node down. Nodes may share what lies below them, but never be below
  // themselves.
  int walk(size_t node, int depth) {
    if (most_below_[node] == kOnTheWay) wrong("runs in a circle");
    if (most_below_[node] != kNotSeen) return most_below_[node];
    if (depth > kLongestString) wrong("has a string without end");
    most_below_[node] = kOnTheWay;
    const uint32_t unit = units_[node];
    const size_t children = children_of(node, unit);
    if ((children | 255) >= units_.size()) wrong("leads beyond its end");
    const bool ends_here = node != 0 && (unit >> 8 & 1) != 0;
    if (ends_here) check_replacement(units_[children] & 0x7fffffffU);
    int most = 0;
    for (size_t byte = 0; byte < 256; ++byte)
      if ((units_[children ^ byte] & 0x800000ffU) == byte) most = std::max(most, walk(children ^ byte, depth + 1));
    most += ends_here ? 1 : 0;
    most_below_[node] = static_cast<int16_t>(std::min(most, kMostStrings + 1));
    return most_below_[node];
  }

  void check_replacement(size_t at) const {
    if (at >= replacements_.size()) wrong("has a replacement beyond its end");
    const std::string_view text = replacements_.substr(at, replacements_.find('\0', at) - at);
    if (text.size() > kLongestReplacement) wrong("has a replacement that is too long");
    if (invalid_utf8(text)) wrong("has a replacement that is not UTF-8");
  }

  std::string_view where_, replacements_;
  std::vector<uint32_t> units_;
  std::vector<int16_t> most_below_;  // by node
};

}  // namespace

void check_character_map(std::string_view map, std::string_view where) {
  if (!map.empty()) MapChecker(map, where).check_all();
}

CharacterMap::CharacterMap(std::string_view map, std::string_view where) {
  check_character_map(map, where);
  if (map.empty()) return;
  units_ = units_of(map);
  replacements_ = map.substr(sizeof(uint32_t) * (units_.size() + 1));
}

std::optional<std::string_view> CharacterMap::replacement(std::string_view text) const {
  size_t node = 0;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    node = children_of(node, units_[node]) ^ byte;
    if ((units_[node] & 0x800000ffU) != byte) return std::nullopt;
    if ((units_[node] >> 8 & 1) == 0) continue;
    const size_t at = units_[children_of(node, units_[node])] & 0x7fffffffU;
    return std::string_view(replacements_).substr(at, replacements_.find('\0', at) - at);
  }
  return std::nullopt;
}

std::string CharacterMap::apply(std::string_view text) const {
  constexpr size_t kLargeCluster = 6;  // bytes
  if (units_.empty()) return std::string(text);
  std::string result;
  const auto each_character = [&](std::string_view cluster) {
    each_code_point(cluster, [&](char32_t, std::string_view bytes) { result += replacement(bytes).value_or(bytes); });
  };
  const auto take = [&](std::string_view cluster) {
    const auto whole = cluster.size() < kLargeCluster ? replacement(cluster) : std::nullopt;
    if (whole)
      result += *whole;
    else
      each_character(cluster);
  };
  size_t begin = 0, at = 0;
  char32_t before = 0;
  utf8proc_int32_t state = 0;
  each_code_point(text, [&](char32_t point, std::string_view bytes) {
    if (at > 0 && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before),
                                                   static_cast<utf8proc_int32_t>(point), &state)) {
      take(text.substr(begin, at - begin));
      begin = at;
    }
    before = point;
    at += bytes.size();
  });
  if (begin < text.size()) take(text.substr(begin));
  return result;
}

}  // namespace limpid
