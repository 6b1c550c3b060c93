#include "inference/text_stream.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "inference/byte_tokenizer.h"
#include "text/small_text.h"

namespace limpid {
namespace {

struct Shown {
  std::vector<std::string> parts;  // those that are not empty
  std::string text;
  bool stopped = false;
};

Shown show(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, std::vector<std::string> stop = {},
           const std::vector<int32_t>& before = {}) {
  TextStream stream(tokenizer, before, std::move(stop));
  Shown shown;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) shown.parts.push_back(part);
    shown.text += part;
  };
  for (const int32_t id : ids) add(stream.add(id));
  add(stream.finish());
  shown.stopped = stream.stopped();
  return shown;
}

const std::string kText = "é 날씨가 좋아요 👍🏽 \u2581 end";

TEST(TextStream, CharactersAcrossTokensComeWhole) {
  const ByteTokenizer bytes;
  const Shown shown = show(bytes, bytes.encode(kText));
  EXPECT_EQ(shown.text, kText);
  size_t characters = 0;
  each_code_point(kText, [&](char32_t, std::string_view) { ++characters; });
  EXPECT_EQ(shown.parts.size(), characters);  // and none later than it could
  for (const std::string& part : shown.parts) EXPECT_FALSE(invalid_utf8(part)) << part;
}

TEST(TextStream, HalfACharacterAtTheEndIsRepaired) {
  const ByteTokenizer bytes;
  EXPECT_EQ(show(bytes, bytes.encode("a\xEA\xB0")).text, repaired_utf8("a\xEA\xB0"));
}

// Bytes that never become a character are shown as soon as they cannot, and the stream finds back.
TEST(TextStream, BytesThatAreNoTextDoNotBlock) {
  const ByteTokenizer bytes;
  const std::string text = std::string(20, '\x80') + "ok \xF0\x9F\x91\x8D";
  TextStream stream(bytes, {});
  std::string shown;
  for (int i = 0; i < 20; ++i) shown += stream.add(0x80);
  EXPECT_EQ(shown.size(), 17 * std::string("\uFFFD").size());
  EXPECT_EQ(show(bytes, bytes.encode(text)).text, repaired_utf8(text));
}

TEST(TextStream, StopStringsAreNeverShown) {
  const ByteTokenizer bytes;
  for (const std::string stop : {"좋아", "날", "end", " ", "👍🏽 \u2581"}) {
    const Shown shown = show(bytes, bytes.encode(kText), {stop});
    EXPECT_TRUE(shown.stopped) << stop;
    EXPECT_EQ(shown.text, kText.substr(0, kText.find(stop))) << stop;
  }
  const Shown none = show(bytes, bytes.encode(kText), {"ends", "날씨는", "👍🏿"});
  EXPECT_FALSE(none.stopped);
  EXPECT_EQ(none.text, kText);
}

TEST(TextStream, TheFirstStopStringCounts) {
  const ByteTokenizer bytes;
  const Shown shown = show(bytes, bytes.encode("one two three"), {"three", "two", "o th"});
  EXPECT_EQ(shown.text, "one ");
  EXPECT_EQ(show(bytes, bytes.encode("aaab"), {"aab"}).text, "a");
}

TEST(TextStream, OnlyWhatMayBecomeAStopStringIsHeldBack) {
  const ByteTokenizer bytes;
  TextStream stream(bytes, {}, {"###"});
  EXPECT_EQ(stream.add('a'), "a");
  EXPECT_EQ(stream.add('#'), "");
  EXPECT_EQ(stream.add('#'), "");
  EXPECT_EQ(stream.add('b'), "##b");
  EXPECT_EQ(stream.add('#'), "");
  EXPECT_EQ(stream.finish(), "#");
}

TEST(TextStream, AfterAStopStringNothingComes) {
  const ByteTokenizer bytes;
  TextStream stream(bytes, {}, {"."});
  EXPECT_EQ(stream.add('.'), "");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.stop_string(), ".");
  EXPECT_EQ(stream.add('x') + stream.finish(), "");
}

TEST(TextStream, RefusesStopStringsThatAreNone) {
  const ByteTokenizer bytes;
  EXPECT_THROW(TextStream(bytes, {}, {""}), Error);
  EXPECT_THROW(TextStream(bytes, {}, {"\xB0"}), Error);
}

// Subwords write a space differently at the beginning of a text: parts must add up to what decoding all at once gives.
TEST(TextStream, SubwordsAddUpToTheWholeText) {
  for (const TokenizerKind kind : {TokenizerKind::bpe, TokenizerKind::unigram, TokenizerKind::characters}) {
    std::vector<std::string> lines = english();
    for (const std::string& line : korean()) lines.push_back(line);
    const auto tokenizer = train_tokenizers({.kind = kind, .vocab = 400}, each_of(lines)).target;
    for (const std::string text : {"the weather is nice today.", "날씨가 오늘 좋아요.", "her  garden 👍 was"}) {
      const std::vector<int32_t> ids = tokenizer->encode(text);
      EXPECT_EQ(show(*tokenizer, ids).text, tokenizer->decode(ids));
      for (size_t cut = 1; cut < ids.size(); ++cut) {
        const std::vector<int32_t> before(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(cut));
        const std::string begun = tokenizer->decode(before);
        if (begun.ends_with("\uFFFD")) continue;  // a prompt does not end within a character
        const Shown rest = show(*tokenizer, {ids.begin() + static_cast<ptrdiff_t>(cut), ids.end()}, {}, before);
        EXPECT_EQ(begun + rest.text, tokenizer->decode(ids)) << cut;
      }
    }
  }
}

// A special token leaves no text: the word after it still has its space.
TEST(TextStream, SpecialTokensBetweenWordsChangeNothing) {
  const auto tokenizer = train_tokenizers({.vocab = 400}, each_of(english())).target;
  std::vector<int32_t> ids = tokenizer->encode("the weather");
  const std::vector<int32_t> more = tokenizer->encode("is nice");
  ids.push_back(tokenizer->special().end);
  ids.insert(ids.end(), more.begin(), more.end());
  EXPECT_EQ(show(*tokenizer, ids).text, tokenizer->decode(ids));
}

}  // namespace
}  // namespace limpid
