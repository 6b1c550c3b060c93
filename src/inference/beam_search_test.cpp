// The rule of the search on probabilities written by hand: token 0 is the end, 1 and 2 are words.

#include "inference/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace limpid {
namespace {

// Rows of probabilities of tokens 0, 1, 2.
TopTokens given(const std::vector<std::vector<double>>& rows) {
  TopTokens top{.count = 3};
  for (const auto& row : rows) {
    std::vector<TokenScore> tokens;
    for (size_t id = 0; id < row.size(); ++id)
      tokens.push_back({static_cast<int32_t>(id), static_cast<real>(std::log(row[id]))});
    std::stable_sort(tokens.begin(), tokens.end(),
                     [](const TokenScore& a, const TokenScore& b) { return a.log_probability > b.log_probability; });
    top.best.insert(top.best.end(), tokens.begin(), tokens.end());
  }
  return top;
}

using Ids = std::vector<int32_t>;

TEST(BeamSearch, KeepsTheLikeliestAndSaysWhereTheyComeFrom) {
  BeamSearch search({.beam = 2, .max_tokens = 9});
  search.advance(given({{0.1, 0.5, 0.4}}), 0);
  ASSERT_EQ(search.live(), 2);
  EXPECT_EQ(search.last(0), 1);
  EXPECT_EQ(search.last(1), 2);
  // 0.4·0.9 stands before 0.5·0.5: both go on from the second and the first.
  search.advance(given({{0.1, 0.5, 0.4}, {0.05, 0.05, 0.9}}), 0);
  ASSERT_EQ(search.live(), 2);
  EXPECT_EQ(search.last(0), 2);
  EXPECT_EQ(search.parent(0), 1);
  EXPECT_EQ(search.last(1), 1);
  EXPECT_EQ(search.parent(1), 0);
}

TEST(BeamSearch, ReadsItsOwnRowsOfMany) {
  BeamSearch search({.beam = 1, .max_tokens = 9});
  search.advance(given({{0.9, 0.05, 0.05}, {0.1, 0.2, 0.7}}), 1);
  ASSERT_EQ(search.live(), 1);
  EXPECT_EQ(search.last(0), 2);
}

TEST(BeamSearch, EndsWhenNoLiveHypothesisCanBeatTheWorstKept) {
  BeamSearch search({.beam = 2, .length_penalty = 0, .max_tokens = 9});
  search.advance(given({{0.6, 0.3, 0.1}}), 0);  // one is finished: 0.6
  ASSERT_EQ(search.live(), 2);
  search.advance(given({{0.9, 0.05, 0.05}, {0.1, 0.8, 0.1}}), 0);  // another: 0.27, above all that live (0.08)
  EXPECT_EQ(search.live(), 0);
  const auto best = search.best(2);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].ids, Ids{});
  EXPECT_EQ(best[1].ids, Ids{1});
  EXPECT_NEAR(best[1].log_probability, std::log(0.27), 1e-6);
}

TEST(BeamSearch, GoesOnWhileALiveHypothesisCan) {
  BeamSearch search({.beam = 2, .length_penalty = 0, .max_tokens = 9});
  search.advance(given({{0.4, 0.5, 0.1}}), 0);
  search.advance(given({{0.2, 0.79, 0.01}, {0.9, 0.05, 0.05}}), 0);  // 0.1 twice are candidates, 0.395 lives
  ASSERT_GT(search.live(), 0);
  search.advance(given({{0.9, 0.05, 0.05}, {0.9, 0.05, 0.05}}), 0);
  EXPECT_EQ(search.best(1).front().ids, Ids{});
  EXPECT_EQ(search.best(2).back().ids, (Ids{1, 1}));
}

TEST(BeamSearch, AnEndBeyondTheBeamDoesNotCount) {
  BeamSearch search({.beam = 1, .max_tokens = 9});
  search.advance(given({{0.3, 0.6, 0.1}}), 0);
  EXPECT_TRUE(search.best(1).empty());
  EXPECT_EQ(search.last(0), 1);
}

TEST(BeamSearch, AtTheLongestLengthItIsCutOff) {
  BeamSearch search({.beam = 2, .length_penalty = 1, .max_tokens = 2});
  search.advance(given({{0.3, 0.6, 0.1}}), 0);  // the empty text is finished: 0.3
  ASSERT_EQ(search.live(), 2);
  search.advance(given({{0.01, 0.9, 0.09}, {0.2, 0.4, 0.4}}), 0);
  EXPECT_EQ(search.live(), 0);
  const auto best = search.best(2);
  EXPECT_EQ(best[0].ids, (Ids{1, 1}));
  EXPECT_NEAR(best[0].log_probability, std::log(0.6 * 0.9), 1e-6);
  EXPECT_NEAR(best[0].score, std::log(0.6 * 0.9) / 2, 1e-6);  // no end to count
  EXPECT_EQ(best[1].ids, Ids{});
  EXPECT_NEAR(best[1].score, std::log(0.3), 1e-6);
}

TEST(BeamSearch, WhatIsForcedMayBeAsLongAsAllowed) {
  BeamSearch search({.beam = 2, .max_tokens = 2});
  search.force(2, -1);
  ASSERT_EQ(search.live(), 1);
  search.force(1, -2);
  EXPECT_EQ(search.live(), 0);
  EXPECT_EQ(search.best(1).front().ids, (Ids{2, 1}));
  EXPECT_DOUBLE_EQ(search.best(1).front().log_probability, -3);
}

TEST(BeamSearch, ThePenaltyFavoursLongTexts) {
  for (const double penalty : {0.0, 2.0}) {
    BeamSearch search({.beam = 2, .length_penalty = penalty, .max_tokens = 9});
    search.advance(given({{0.45, 0.5, 0.05}}), 0);
    search.advance(given({{0.8, 0.1, 0.1}, {0.5, 0.25, 0.25}}), 0);
    EXPECT_EQ(search.best(1).front().ids, penalty == 0 ? Ids{} : Ids{1});
  }
}

}  // namespace
}  // namespace limpid
