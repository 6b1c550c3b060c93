// The order in which a recurrent network takes the tokens of a ragged batch, on a batch small enough to write it down.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layers/recurrent.h"

namespace limpid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TimeOrder, TakesTheLongestFirstAndOfEqualsTheOneThatStandsFirst) {
  const TimeOrder time(Sequences({2, 0, 3, 2}));  // tokens 0 1 | | 2 3 4 | 5 6
  EXPECT_THAT(time.order, ElementsAre(2, 0, 3, 1));
  EXPECT_EQ(time.steps(), 3);
  EXPECT_THAT(time.running, ElementsAre(3, 3, 1));
  EXPECT_THAT(time.begin, ElementsAre(0, 3, 6, 7));
  EXPECT_THAT(time.token_of_row, ElementsAre(2, 0, 5, 3, 1, 6, 4));
  EXPECT_THAT(time.row_of_token, ElementsAre(1, 4, 0, 3, 6, 2, 5));
}

// Row 0 is the first token of the longest sequence; its last one is row 6.
TEST(TimeOrder, CountsFromTheEndOfEachSequence) {
  const TimeOrder time(Sequences({2, 0, 3, 2}));
  EXPECT_THAT(time.reversed, ElementsAre(6, 4, 5, 3, 1, 2, 0));
}

TEST(TimeOrder, OfNothing) {
  for (const Sequences& nothing : {Sequences(std::vector<int64_t>{}), Sequences({0, 0})}) {
    const TimeOrder time(nothing);
    EXPECT_EQ(time.steps(), 0);
    EXPECT_THAT(time.begin, ElementsAre(0));
    EXPECT_THAT(time.token_of_row, IsEmpty());
    EXPECT_THAT(time.reversed, IsEmpty());
  }
}

}  // namespace
}  // namespace limpid
