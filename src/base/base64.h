#pragma once
// Bytes as base64 (RFC 4648), and back.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace limpid {

inline constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string base64(std::string_view bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < count ? static_cast<uint8_t>(bytes[at + i]) : 0);
    for (size_t i = 0; i < 4; ++i) text += i <= count ? kBase64Digits[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

// What is no digit is passed over.
inline std::string bytes_of_base64(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kBase64Digits.find(c);
    if (digit == kBase64Digits.npos) continue;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  return bytes;
}

}  // namespace limpid
