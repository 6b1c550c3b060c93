#include "base/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace limpid {
namespace {

constexpr std::array<std::string_view, 6> kVerbs = {"train", "translate", "tokenize", "serve", "score", "sae"};

TEST(Nearest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(nearest("train", kVerbs), "train");
  EXPECT_EQ(nearest("trian", kVerbs), "train");   // swapped
  EXPECT_EQ(nearest("rain", kVerbs), "train");    // a letter too few
  EXPECT_EQ(nearest("traain", kVerbs), "train");  // a letter too many
  EXPECT_EQ(nearest("trein", kVerbs), "train");   // another letter
  EXPECT_EQ(nearest("TOKENISE", kVerbs), "tokenize");
  EXPECT_EQ(nearest("sea", kVerbs), "sae");
}

TEST(Nearest, ABeginningIsNear) {
  EXPECT_EQ(nearest("trans", kVerbs), "translate");
  EXPECT_EQ(nearest("to", kVerbs), "tokenize");
}

TEST(Nearest, FewestEditsWinThenTheFirst) {
  EXPECT_EQ(nearest("scorf", kVerbs), "score");
  constexpr std::array<std::string_view, 3> words = {"bat", "cat", "hat"};
  EXPECT_EQ(nearest("cat", words), "cat");
  EXPECT_EQ(nearest("mat", words), "bat");
}

TEST(Nearest, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(nearest("quantize", kVerbs), "");
  EXPECT_EQ(nearest("tokens", std::array<std::string_view, 1>{"toaster"}), "");  // three edits of six letters
  EXPECT_EQ(nearest("", kVerbs), "");
  EXPECT_EQ(nearest("x", kVerbs), "");
  EXPECT_EQ(nearest("train", {}), "");
}

TEST(Nearest, EndsAMessage) {
  EXPECT_EQ(did_you_mean("trian", kVerbs), "; did you mean train?");
  EXPECT_EQ(did_you_mean("quantize", kVerbs), "");
}

}  // namespace
}  // namespace limpid
