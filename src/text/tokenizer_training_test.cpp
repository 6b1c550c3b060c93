#include "text/tokenizer_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "text/small_text.h"

namespace limpid {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const TokenizerOptions& options, const std::vector<std::string>& lines) {
  try {
    train_tokenizers(options, each_of(lines));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string round_trip(const Tokenizer& tokenizer, std::string_view text) {
  return tokenizer.decode(tokenizer.encode(text));
}

std::vector<std::string> pieces(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> result;
  for (const int32_t id : tokenizer.encode(text)) result.push_back(tokenizer.piece(id));
  return result;
}

class Subwords : public testing::TestWithParam<TokenizerKind> {
 protected:
  TokenizerOptions options() const { return {.kind = GetParam(), .vocab = 420}; }
};
INSTANTIATE_TEST_SUITE_P(Kinds, Subwords, testing::Values(TokenizerKind::bpe, TokenizerKind::unigram));

TEST_P(Subwords, TextComesBack) {
  const Tokenizers both = train_tokenizers(options(), each_of(english()), each_of(korean()));
  EXPECT_EQ(both.source, both.target);
  EXPECT_LE(both.source->size(), 420);
  for (const auto& lines : {english(), korean()})
    for (const std::string& line : lines) EXPECT_EQ(round_trip(*both.source, line), line);
  EXPECT_EQ(both.source->encode(""), std::vector<int32_t>());
  EXPECT_EQ(both.source->decode({}), "");
}

TEST_P(Subwords, CommonWordsAreFewerPiecesThanCharacters) {
  const Tokenizers both = train_tokenizers(options(), each_of(english()), each_of(korean()));
  EXPECT_LE(both.source->encode("the weather is nice").size(), 12u);
  EXPECT_LE(both.source->encode("날씨가 좋아요").size(), 7u);
}

TEST_P(Subwords, CharactersNeverSeenBecomeBytes) {
  const Tokenizers both = train_tokenizers(options(), each_of(english()), each_of(korean()));
  EXPECT_EQ(round_trip(*both.source, "뷁 😀 Ω"), "뷁 😀 Ω");
  EXPECT_THAT(both.source->encode("뷁😀"), Each(testing::Ne(both.source->special().unknown)));
  const std::vector<int32_t> ids = both.source->encode("뷁");
  EXPECT_EQ(both.source->decode(std::span(ids).first(ids.size() - 1)), "\uFFFD\uFFFD");  // half a character
}

TEST_P(Subwords, WithoutBytesTheyAreUnknown) {
  TokenizerOptions plain = options();
  plain.byte_fallback = false;
  plain.vocab = 150;
  const Tokenizers both = train_tokenizers(plain, each_of(english()), each_of(korean()));
  EXPECT_THAT(both.source->encode("뷁"), testing::Contains(both.source->special().unknown));
  EXPECT_EQ(round_trip(*both.source, "the 뷁"), "the ");
}

TEST_P(Subwords, DecomposedHangulIsComposed) {
  const Tokenizers both = train_tokenizers(options(), each_of(english()), each_of(korean()));
  EXPECT_EQ(both.source->encode("\u1102\u1161\u11AF\u110A\u1175"), both.source->encode("날씨"));
}

TEST_P(Subwords, SpecialTokensTakeTheFirstIdsInOrder) {
  TokenizerOptions named = options();
  named.special = {"<mask>", "<s>", "<pad>", "<extra>", "<unk>", "</s>"};
  const auto tokenizer = train_tokenizers(named, each_of(english())).source;
  for (int32_t id = 0; id < 6; ++id) EXPECT_EQ(tokenizer->piece(id), named.special[static_cast<size_t>(id)]);
  const SpecialIds special = tokenizer->special();
  EXPECT_EQ(special.mask, 0);
  EXPECT_EQ(special.begin, 1);
  EXPECT_EQ(special.pad, 2);
  EXPECT_EQ(special.unknown, 4);
  EXPECT_EQ(special.end, 5);
  EXPECT_EQ(tokenizer->decode(std::vector<int32_t>{0, 1, 2, 3, 4, 5}), "");
  EXPECT_THAT(tokenizer->encode("</s><mask>"), Each(testing::Ge(6)));  // text never becomes a special token
}

TEST_P(Subwords, LowerCase) {
  TokenizerOptions folded = options();
  folded.lowercase = true;
  const Tokenizers both = train_tokenizers(folded, each_of(english()), each_of(korean()));
  EXPECT_EQ(round_trip(*both.source, "THE Weather ÄÖÜ 날씨"), "the weather äöü 날씨");
}

TEST_P(Subwords, TheSameWhateverTheThreads) {
  TokenizerOptions other = options();
  other.threads = 3;
  const auto a = train_tokenizers(options(), each_of(english()), each_of(korean())).source;
  const auto b = train_tokenizers(other, each_of(english()), each_of(korean())).source;
  ASSERT_EQ(a->size(), b->size());
  for (int32_t id = 0; id < a->size(); ++id) EXPECT_EQ(a->piece(id), b->piece(id));
}

TEST_P(Subwords, OneSideKeepsLinesAndSpaces) {
  const auto tokenizer = train_tokenizers(options(), each_of(english())).source;
  const std::string text = "  the weather\n\n\tis   nice \n";
  EXPECT_EQ(round_trip(*tokenizer, text), text);
  const Tokenizers both = train_tokenizers(options(), each_of(english()), each_of(korean()));
  EXPECT_EQ(round_trip(*both.source, text), "the weather is nice");
}

TEST_P(Subwords, TwoSegmentationsShareOneTable) {
  TokenizerOptions apart = options();
  apart.joint = false;
  apart.vocab = 330;
  const Tokenizers both = train_tokenizers(apart, each_of(english()), each_of(korean()));
  EXPECT_NE(both.source, both.target);
  ASSERT_EQ(both.source->size(), both.target->size());
  EXPECT_GT(both.source->size(), 330);
  for (int32_t id = 0; id < both.source->size(); ++id) EXPECT_EQ(both.source->piece(id), both.target->piece(id));
  const std::vector<int32_t> ids = both.target->encode("날씨가 좋아요");
  EXPECT_LT(ids.size(), both.source->encode("날씨가 좋아요").size());  // the source has never seen Korean
  EXPECT_EQ(both.target->decode(ids), "날씨가 좋아요");
  EXPECT_EQ(both.source->decode(ids), "날씨가 좋아요");
  EXPECT_EQ(both.target->decode(both.source->encode("the weather")), "the weather");
}

TEST_P(Subwords, AVocabularyTooLargeBecomesSmaller) {
  TokenizerOptions large = options();
  large.vocab = 50000;
  EXPECT_LT(train_tokenizers(large, each_of({"a few words", "and no more"})).source->size(), 400);
}

TEST_P(Subwords, WhatCannotBeIsAnError) {
  TokenizerOptions small = options();
  small.vocab = 100;
  EXPECT_THAT(error_of(small, english()), HasSubstr("a vocabulary of 100 has no room"));
  EXPECT_THAT(error_of(options(), {}), HasSubstr("no text to learn from"));
  EXPECT_THAT(error_of(options(), {"\u2585"}), HasSubstr("cannot learn from this text"));  // SentencePiece's own mark
}

TEST(Characters, EveryCharacterIsAToken) {
  const auto tokenizer = train_tokenizers({.kind = TokenizerKind::characters}, each_of({"aab 한", "b한"})).source;
  EXPECT_EQ(tokenizer->size(), 3 + 5);  // and the end of a line
  EXPECT_EQ(round_trip(*tokenizer, "한b\na a"), "한b\na a");
  EXPECT_THAT(pieces(*tokenizer, "b\n한x"), ElementsAre("b", "\n", "한", "<unk>"));
  EXPECT_EQ(round_trip(*tokenizer, "axb"), "ab");
}

TEST(Characters, TheCommonestStay) {
  const TokenizerOptions options = {.kind = TokenizerKind::characters, .vocab = 5};
  const auto tokenizer = train_tokenizers(options, each_of({"abcb"}), each_of({"ccab"})).source;
  EXPECT_EQ(tokenizer->size(), 5);
  EXPECT_EQ(tokenizer->piece(3), "b");  // three times, as is c, and before it
  EXPECT_EQ(tokenizer->piece(4), "c");
}

TEST(Words, SplitAndJoined) {
  const std::vector<std::string> lines = {"ein klei@@ ner hund", "ein hund  \t klei@@"};
  const auto tokenizer = train_tokenizers({.kind = TokenizerKind::words}, each_of(lines), each_of(lines)).source;
  EXPECT_EQ(tokenizer->size(), 3 + 4);
  EXPECT_THAT(pieces(*tokenizer, " ein  katze klei@@ "), ElementsAre("ein", "<unk>", "klei@@"));
  EXPECT_EQ(round_trip(*tokenizer, lines[0]), "ein kleiner hund");
  EXPECT_EQ(round_trip(*tokenizer, lines[1]), "ein hund klei");
}

TEST(Words, RareOnesAreUnknown) {
  const TokenizerOptions options = {.kind = TokenizerKind::words, .lowercase = true, .min_count = 2};
  const auto tokenizer = train_tokenizers(options, each_of({"Der Hund", "der Kater", "</s> </s>"})).source;
  EXPECT_EQ(tokenizer->size(), 4);
  EXPECT_THAT(pieces(*tokenizer, "DER Hund </s>"), ElementsAre("der", "<unk>", "<unk>"));
}

TEST(TokenizerOptions, Checked) {
  const std::vector<std::string> lines = {"text"};
  EXPECT_THAT(error_of({.vocab = 3}, lines), HasSubstr("a vocabulary of 3 cannot be"));
  EXPECT_THAT(error_of({.coverage = 2}, lines), HasSubstr("coverage"));
  EXPECT_THAT(error_of({.special = {"<pad>", "</s>"}}, lines), HasSubstr("add \"<unk>\""));
  EXPECT_THAT(error_of({.special = {"<unk>", "a,b"}}, lines), HasSubstr("\"a,b\" cannot be"));
  EXPECT_THAT(error_of({.special = {"<unk>", "</s>", "</s>"}}, lines), HasSubstr("twice"));
  EXPECT_THAT(error_of({.kind = TokenizerKind::words, .min_count = 9}, lines), HasSubstr("gives no token"));
}

TEST(Tokenizer, AnIdOutOfRangeIsAnError) {
  const auto tokenizer = train_tokenizers({.kind = TokenizerKind::words}, each_of({"a"})).source;
  EXPECT_THROW(tokenizer->decode(std::vector<int32_t>{4}), Error);
  EXPECT_THROW(tokenizer->piece(-1), Error);
}

}  // namespace
}  // namespace limpid
