#include "text/utf8.h"

#include <gtest/gtest.h>

#include <vector>

namespace limpid {
namespace {

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_EQ(invalid_utf8(""), std::nullopt);
  EXPECT_EQ(invalid_utf8("plain text, longer than a word of eight"), std::nullopt);
  EXPECT_EQ(invalid_utf8("Straße 한국어 😀 \U0010FFFF \uD7FF\uE000"), std::nullopt);
  EXPECT_EQ(invalid_utf8("abc\x80"), 3u);             // a continuation without a beginning
  EXPECT_EQ(invalid_utf8("12345678\xC3"), 8u);        // ends in the middle of a character
  EXPECT_EQ(invalid_utf8("a\xC3(b"), 1u);             // the continuation is missing
  EXPECT_EQ(invalid_utf8("\xC0\xAF"), 0u);            // "/" in two bytes
  EXPECT_EQ(invalid_utf8("\xE0\x80\xAF"), 0u);        // in three
  EXPECT_EQ(invalid_utf8("\xF0\x80\x80\xAF"), 0u);    // in four
  EXPECT_EQ(invalid_utf8("x\xED\xA0\x80"), 1u);       // the surrogate U+D800
  EXPECT_EQ(invalid_utf8("xy\xF4\x90\x80\x80"), 2u);  // U+110000
  EXPECT_EQ(invalid_utf8("xyz\xFF"), 3u);
}

TEST(Utf8, EveryCodePointComesBack) {
  for (char32_t point = 0; point <= 0x10FFFF; point += point < 0x3000 ? 1 : 97) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, point);
    ASSERT_EQ(invalid_utf8(text), std::nullopt);
    const CodePoint read = first_code_point(text);
    ASSERT_EQ(read.value, point);
    ASSERT_EQ(read.bytes, text.size());
  }
}

TEST(Utf8, BytesThatAreNoTextCountOneByOne) {
  std::vector<char32_t> points;
  each_code_point("a\xFF\xC3한", [&](char32_t point, std::string_view) { points.push_back(point); });
  EXPECT_EQ(points, (std::vector<char32_t>{'a', kReplacement, kReplacement, U'한'}));
}

TEST(Utf8, LowerCase) {
  EXPECT_EQ(lower_case("ÄÖÜ ẞ ΣΑΣ ДОМ ABC 한국 1"), "äöü ß σασ дом abc 한국 1");
  EXPECT_EQ(lower_case("İI"), "i\u0307i");
  EXPECT_EQ(lower_case("A\xFFZ"), "a\xFFz");
}

TEST(Utf8, Spaces) {
  for (const char32_t point : {U' ', U'\t', U'\n', U'\r', U'\u0085', U'\u00A0', U'\u2003', U'\u2028', U'\u3000'})
    EXPECT_TRUE(is_space(point)) << static_cast<uint32_t>(point);
  for (const char32_t point : {U'a', U'\u200B', U'\u2581', U'한', U'\u0000'})
    EXPECT_FALSE(is_space(point)) << static_cast<uint32_t>(point);
}

}  // namespace
}  // namespace limpid
