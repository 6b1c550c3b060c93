#include "text/unknown_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/small_text.h"

namespace limpid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UnknownWords, AreToldOnceWithTheNearestToken) {
  const auto words = train_tokenizers({.kind = TokenizerKind::words}, each_of({"Michael Jordan plays"})).source;
  EXPECT_THAT(unknown_word_notes(*words, "Michael Jordn  plays xyzzy Jordn"),
              ElementsAre("\"Jordn\" is not in the model's vocabulary and is read as <unk>; did you mean Jordan?",
                          "\"xyzzy\" is not in the model's vocabulary and is read as <unk>"));
  EXPECT_THAT(unknown_word_notes(*words, "a b c", 2), testing::SizeIs(2));
  EXPECT_THAT(unknown_word_notes(*words, "Michael Jordan"), IsEmpty());
}

TEST(UnknownWords, AreNoneWhereBytesSayEverything) {
  const auto subwords = train_tokenizers({.kind = TokenizerKind::bpe, .vocab = 300}, each_of(english())).source;
  EXPECT_THAT(unknown_word_notes(*subwords, "zzz 한국어"), IsEmpty());
}

}  // namespace
}  // namespace limpid
