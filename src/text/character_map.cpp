#include "text/character_map.h"

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

class CharacterMap {
 public:
  CharacterMap(std::string_view map, std::string_view where) : where_(where) {
    uint32_t bytes = 0;
    if (map.size() < sizeof bytes) wrong("ends within its size");
    std::memcpy(&bytes, map.data(), sizeof bytes);
    map.remove_prefix(sizeof bytes);
    if (bytes % sizeof(uint32_t) != 0 || bytes == 0 || bytes >= map.size()) wrong("is cut short");
    units_.resize(bytes / sizeof(uint32_t));
    std::memcpy(units_.data(), map.data(), bytes);
    replacements_ = map.substr(bytes);
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
    const size_t children = node ^ (static_cast<size_t>(unit >> 10) << ((unit >> 9 & 1) * 8));
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
  if (!map.empty()) CharacterMap(map, where).check_all();
}

}  // namespace limpid
