#include "text/bpe_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "text/byte_characters.h"
#include "text/utf8.h"

namespace limpid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

TEST(ByteCharacters, EveryByteHasOneThatGoesBack) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string& character = byte_characters()[static_cast<size_t>(byte)];
    EXPECT_EQ(bytes_of_piece(character), std::string(1, static_cast<char>(byte)));
  }
  EXPECT_EQ(byte_characters()[' '], "\u0120");
  EXPECT_EQ(byte_characters()['\n'], "\u010A");
  EXPECT_EQ(byte_characters()['A'], "A");
  EXPECT_EQ(byte_characters()[0xAD], "\u0143");
  EXPECT_EQ(bytes_of_piece("\uD55C"), "\uD55C");  // stands for no byte
}

TEST(PairMerges, TheFirstLearnedComesFirstTheLeftmostOfEquals) {
  PairMerges merges;
  merges.add({1, 1}, 2);
  merges.add({2, 1}, 3);
  merges.add({1, 2}, 4);
  merges.add({1, 1}, 9);  // counts no more
  const auto merged = [&](std::vector<int32_t> ids) {
    merges.apply(ids);
    return ids;
  };
  EXPECT_THAT(merged({1, 1, 1}), ElementsAre(3));
  EXPECT_THAT(merged({1, 1, 1, 1, 1}), ElementsAre(2, 3));
  EXPECT_THAT(merged({1, 0, 1}), ElementsAre(1, 0, 1));
  EXPECT_THAT(merged({1, -1, 1, 1}), ElementsAre(1, -1, 2));
  EXPECT_THAT(merged({}), ElementsAre());
}

// Against the definition: look through all pairs for the best one, again and again.
TEST(PairMerges, AreThoseOfTheDefinition) {
  Random random(3);
  PairMerges merges;
  std::vector<std::pair<PairMerges::Pair, int32_t>> learned;
  for (int32_t made = 3; made < 40; ++made) {
    const PairMerges::Pair pair = {static_cast<int32_t>(random.below(made)), static_cast<int32_t>(random.below(made))};
    learned.emplace_back(pair, made);
    merges.add(pair, made);
  }
  for (int round = 0; round < 200; ++round) {
    std::vector<int32_t> ids(random.below(60));
    for (int32_t& id : ids) id = static_cast<int32_t>(random.below(3));
    std::vector<int32_t> expected = ids;
    for (size_t rank = 0; rank < learned.size();) {
      const auto& [pair, made] = learned[rank];
      size_t at = 0;
      while (at + 1 < expected.size() && PairMerges::Pair{expected[at], expected[at + 1]} != pair) ++at;
      if (at + 1 >= expected.size()) {
        ++rank;
        continue;
      }
      expected[at] = made;
      expected.erase(expected.begin() + static_cast<ptrdiff_t>(at) + 1);
      rank = 0;
    }
    merges.apply(ids);
    EXPECT_EQ(ids, expected);
  }
}

std::vector<std::string> split(const Json& json, std::string_view text) {
  std::vector<std::string> parts;
  for (const std::string_view part : PreTokenizer(json, "x").split(text)) parts.emplace_back(part);
  return parts;
}

Json split_json(const char* pattern, const char* behavior, bool invert = false) {
  return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", behavior}, {"invert", invert}};
}

TEST(PreTokenizers, BehaveAsTheyAreTold) {
  const char* text = "a--b-";
  EXPECT_THAT(split(split_json("-", "Isolated"), text), ElementsAre("a", "-", "-", "b", "-"));
  EXPECT_THAT(split(split_json("-", "Removed"), text), ElementsAre("a", "b"));
  EXPECT_THAT(split(split_json("-", "Removed", true), text), ElementsAre("-", "-", "-"));
  EXPECT_THAT(split(split_json("-", "Contiguous"), text), ElementsAre("a", "--", "b", "-"));
  EXPECT_THAT(split(split_json("-", "MergedWithPrevious"), text), ElementsAre("a-", "-", "b-"));
  EXPECT_THAT(split(split_json("-", "MergedWithNext"), text), ElementsAre("a", "-", "-b", "-"));
  EXPECT_THAT(split({{"type", "Split"}, {"pattern", {{"String", "."}}}, {"behavior", "Isolated"}}, "a.b"),
              ElementsAre("a", ".", "b"));
  EXPECT_THAT(split({{"type", "Digits"}, {"individual_digits", true}}, "ab12"), ElementsAre("ab", "1", "2"));
  EXPECT_THAT(split({{"type", "Digits"}}, "ab12c"), ElementsAre("ab", "12", "c"));
  EXPECT_THAT(split({{"type", "BertPreTokenizer"}}, " a, b\u00a0\u2014c$"),
              ElementsAre("a", ",", "b", "\u2014", "c", "$"));
  EXPECT_THAT(split({{"type", "Whitespace"}}, "a_1 b!?"), ElementsAre("a_1", "b", "!?"));
  EXPECT_THAT(split({{"type", "CharDelimiterSplit"}, {"delimiter", "."}}, "a..b c"), ElementsAre("a", "b c"));
  EXPECT_THAT(split(nullptr, "a b"), ElementsAre("a b"));
  EXPECT_THAT(split({{"type", "ByteLevel"}, {"add_prefix_space", false}}, "I'll  go 12\n"),
              ElementsAre("I", "'ll", " ", " go", " 12", "\n"));
}

// The library that tokenizer files are written for has classes in classes, and what classes have in common.
TEST(PreTokenizers, ClassesAreThoseOfOniguruma) {
  const auto found = [](const char* pattern, const char* text) {
    return split(split_json(pattern, "Removed", true), text);
  };
  EXPECT_THAT(found("[\\p{L}&&[^a-m]]+", "az&b[xy]"), ElementsAre("z", "xy"));
  EXPECT_THAT(found("[a-z&&aeiou]+", "teams&ue"), ElementsAre("ea", "ue"));
  EXPECT_THAT(found("[^a-z&&aeiou]+", "tea"), ElementsAre("t"));
  EXPECT_THAT(found(" ?[^(\\s|[.,!?]abc)]+", "(xy. zc"), ElementsAre("xy", " z"));  // as BLOOM's
  EXPECT_THAT(found("[x[^a-y]]+", "axyz1"), ElementsAre("x", "z1"));
  EXPECT_THAT(found("[[:digit:]a]+", "12ab3"), ElementsAre("12a", "3"));
  EXPECT_THAT(found("[\\[\\]&]+", "a[&]b"), ElementsAre("[&]"));
  EXPECT_THAT(found("[]a]+", "b]a"), ElementsAre("]a"));
}

TEST(PreTokenizers, WhatIsNotKnownIsAnError) {
  EXPECT_THROW(PreTokenizer(Json{{"type", "Mystery"}}, "x"), Error);
  EXPECT_THROW(PreTokenizer(split_json("(", "Isolated"), "x"), Error);
  EXPECT_THROW(PreTokenizer(split_json("a", "Sometimes"), "x"), Error);
  EXPECT_THROW(Normalizer(Json{{"type", "Mystery"}}, "x"), Error);
}

TEST(Normalizers, DoAsTheyAreTold) {
  const auto apply = [](const Json& json, std::string_view text) { return Normalizer(json, "x").apply(text); };
  EXPECT_EQ(apply({{"type", "NFC"}}, "e\u0301"), "\u00e9");
  EXPECT_EQ(apply({{"type", "NFKC"}}, "\uff21\ufb01"), "Afi");
  EXPECT_EQ(apply({{"type", "Strip"}}, "  a b \n"), "a b");
  EXPECT_EQ(apply({{"type", "Strip"}, {"strip_right", false}}, "  a "), "a ");
  EXPECT_EQ(apply({{"type", "Prepend"}, {"prepend", "_"}}, "a"), "_a");
  EXPECT_EQ(apply({{"type", "Prepend"}, {"prepend", "_"}}, ""), "");
  EXPECT_EQ(apply({{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}}, "a   b c"), "a b c");
  EXPECT_EQ(apply({{"type", "StripAccents"}}, "e\u0301\u0903\u20dd"), "e");  // of the categories Mn, Mc and Me
  EXPECT_EQ(apply({{"type", "Nmt"}}, "a\x01\tb\u200b\u2581c"), "a b  c");
  const Json bert = {{"type", "BertNormalizer"}, {"lowercase", true}};
  EXPECT_EQ(apply(bert, "\u00c4pf\u200bel\t\u6211\u60f3"), "apfel  \u6211  \u60f3 ");
  EXPECT_EQ(apply(bert, "a\u03a2\u0001b"), "a\u03a2b");  // an unassigned character is none to clean away
  const Json cased = {{"type", "BertNormalizer"}, {"lowercase", false}};
  EXPECT_EQ(apply(cased, "\u00c4A"), "\u00c4A");
}

BpeParts small_parts() {
  BpeParts parts;
  std::vector<std::string> pieces(byte_characters().begin(), byte_characters().end());
  for (const char* piece : {"he", "ll", "hell", "hello", "\u0120hello", "<|end|>", "<tool>"})
    pieces.emplace_back(piece);
  parts.vocabulary = std::make_shared<Vocabulary>(std::move(pieces), std::vector<std::string>{"<|end|>"}, "x");
  parts.merges = {{"h", "e"}, {"l", "l"}, {"he", "ll"}, {"hell", "o"}, {"\u0120", "hello"}};
  parts.pre_tokenizer = PreTokenizer({{"type", "ByteLevel"}, {"add_prefix_space", false}}, "x");
  parts.decoder = {{"type", "ByteLevel"}};
  parts.added = {BpeParts::Added{262}};
  return parts;
}

TEST(BpeTokenizer, ByteLevel) {
  const BpeTokenizer tokenizer(small_parts(), "x");
  EXPECT_THAT(tokenizer.encode("hello hello"), ElementsAre(259, 260));
  EXPECT_THAT(tokenizer.encode("hell<tool>"), ElementsAre(258, 262));
  EXPECT_EQ(tokenizer.encode("<|end|>").size(), 7u);  // a special token is never what somebody wrote
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{259, 261, 260, 262}), "hello hello<tool>");
  for (const std::string text : {"", " \n\t ", "\uD55C\uAD6D \U0001F600", "\xff\xfe broken \xe2\x82", "a\xf0\x9f"}) {
    const std::vector<int32_t> ids = tokenizer.encode(text);
    std::string back;
    for (const int32_t id : ids) back += tokenizer.bytes(id);
    EXPECT_EQ(back, text);  // no byte is lost
    EXPECT_EQ(tokenizer.decode(ids), repaired_utf8(text));
  }
}

TEST(BpeTokenizer, WholeWordsComeFirstWhereAskedFor) {
  BpeParts parts = small_parts();
  parts.merges.resize(2);
  EXPECT_EQ(BpeTokenizer(parts, "x").encode("hello").size(), 3u);
  parts.whole_words = true;
  EXPECT_THAT(BpeTokenizer(parts, "x").encode("hello"), ElementsAre(259));
}

TEST(BpeTokenizer, CharactersWithBytesToFallBackOn) {
  BpeParts parts;
  std::vector<std::string> pieces = {"<unk>", "\u2581", "a", "b", "ab", "\u2581ab"};
  for (int byte = 0; byte < 256; ++byte) pieces.push_back(byte_token(static_cast<uint8_t>(byte)));
  pieces.emplace_back("\u2581\u2581");  // a token of its own for two spaces, as Gemma's vocabularies have them
  parts.added = {BpeParts::Added{262}};
  parts.vocabulary = std::make_shared<Vocabulary>(std::move(pieces), std::vector<std::string>{"<unk>"}, "x");
  parts.merges = {{"a", "b"}, {"\u2581", "ab"}};
  parts.pre_tokenizer = PreTokenizer({{"type", "Metaspace"}, {"prepend_scheme", "first"}, {"split", false}}, "x");
  parts.decoder = {{"type", "Metaspace"}, {"prepend_scheme", "first"}};
  parts.fuse_unknown = true;
  EXPECT_THAT(BpeTokenizer(parts, "x").encode("ab xy"), ElementsAre(5, 1, 0));
  parts.byte_fallback = true;
  const BpeTokenizer tokenizer(parts, "x");
  EXPECT_THAT(tokenizer.encode("ab x"), ElementsAre(5, 1, 6 + 'x'));
  for (const std::string text : {"ab ab", "b  a", "\uD55C\uAD6D", "x\ny"})
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{5, 262, 2}), "ab  a");
  EXPECT_EQ(tokenizer.bytes(5), " ab");
  EXPECT_EQ(tokenizer.bytes(6 + 0xEA), "\xEA");
  EXPECT_EQ(tokenizer.bytes(0), "") << "what is unknown has no bytes";
}

TEST(BpeTokenizer, MergesThatDoNotFitAreErrors) {
  BpeParts parts = small_parts();
  parts.merges.emplace_back("hello", "hello");
  try {
    const BpeTokenizer tokenizer(parts, "[tokenizer] x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("joins \"hello\" and \"hello\""));
  }
}

// A word of a million letters takes no time of millions of millions.
TEST(BpeTokenizer, LongWords) {
  const BpeTokenizer tokenizer(small_parts(), "x");
  EXPECT_EQ(tokenizer.encode(std::string(100000, 'l')).size(), 50000u);
}

}  // namespace
}  // namespace limpid
