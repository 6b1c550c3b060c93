#include "text/utf8.h"

#include <utf8proc.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace limpid {
namespace {

constexpr CodePoint kInvalid = {kReplacement, 0};

// The code point at the start of the text, or kInvalid.
CodePoint decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (bytes == 0 || text.size() < bytes) return kInvalid;
  char32_t value = lead & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return kInvalid;
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};  // that needs so many bytes
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < least[bytes] || surrogate || value > 0x10FFFF) return kInvalid;
  return {value, bytes};
}

bool eight_ascii(const char* text) {
  uint64_t word;
  std::memcpy(&word, text, sizeof word);
  return (word & 0x8080808080808080) == 0;
}

}  // namespace

std::optional<size_t> invalid_utf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= 8 && eight_ascii(text.data() + at)) {
      at += 8;
      continue;
    }
    const size_t bytes = decode(text.substr(at)).bytes;
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::nullopt;
}

CodePoint first_code_point(std::string_view text) {
  const CodePoint point = decode(text);
  return point.bytes == 0 ? CodePoint{kReplacement, 1} : point;
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto put = [&](char32_t bits) { text += static_cast<char>(static_cast<uint8_t>(bits)); };
  const auto tail = [&](int shift) { put(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    tail(0);
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    tail(6);
    tail(0);
  } else {
    put(0xF0 | code_point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string repaired_utf8(std::string text) {
  if (!invalid_utf8(text)) return text;
  std::string result;
  each_code_point(text, [&](char32_t point, std::string_view) { append_utf8(result, point); });
  return result;
}

std::string lower_case(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  each_code_point(text, [&](char32_t point, std::string_view bytes) {
    if (point == kReplacement) {
      result += bytes;  // what is no text stays as it is
    } else if (point == 0x130) {
      result += "i\u0307";  // İ: the one letter whose lower case is two code points
    } else {
      append_utf8(result, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point))));
    }
  });
  return result;
}

bool is_space(char32_t code_point) {
  if (code_point < 0x80) return code_point == ' ' || (code_point >= '\t' && code_point <= '\r');
  if (code_point == 0x85) return true;
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

}  // namespace limpid
