#include "inference/alignment.h"

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "inference/small_translators.h"

namespace limpid {
namespace {

class Align : public testing::Test {
 protected:
  void SetUp() override { set_threads(1); }
  void TearDown() override { set_threads(0); }
  const std::vector<std::vector<int32_t>> sources_ = {{3, 4, 5, 6, 2}, {7, 2}, {8, 9, 2}};
  const std::vector<std::vector<int32_t>> targets_ = {{9, 2}, {5, 6, 7, 2}, {4, 4, 2}};
};

TEST_F(Align, RowsSumToOneInEveryFamilyAndAloneAsTogether) {
  for (const std::string name : {"marian", "pegasus", "gru_attention", "lstm_attention"}) {
    const SmallModel small = small_translator(name);
    const auto together = align(*small.model, sources_, targets_);
    for (size_t i = 0; i < sources_.size(); ++i) {
      const auto alone = align(*small.model, {&sources_[i], 1}, {&targets_[i], 1}).at(0);
      ASSERT_EQ(together[i].size(), targets_[i].size());
      for (size_t t = 0; t < alone.size(); ++t) {
        double sum = 0;
        ASSERT_EQ(together[i][t].size(), sources_[i].size());
        for (size_t s = 0; s < alone[t].size(); ++s) {
          EXPECT_NEAR(alone[t][s], together[i][t][s], 1e-5) << name;
          sum += alone[t][s];
        }
        EXPECT_NEAR(sum, 1, 1e-5) << name << " " << i << " " << t;
      }
    }
  }
}

TEST_F(Align, TheMeanIsThatOfAllHeads) {
  const SmallModel small = small_translator("marian");  // two layers of three heads
  const auto mean = align(*small.model, sources_, targets_);
  double sum = 0;
  std::vector<double> weights;
  for (int64_t layer = 0; layer < 2; ++layer)
    for (int64_t head = 0; head < 3; ++head) {
      weights.push_back(align(*small.model, sources_, targets_, {.layer = layer, .head = head})[0][1][2]);
      sum += weights.back();
    }
  EXPECT_NEAR(mean[0][1][2], sum / 6, 1e-6);
  EXPECT_NE(weights[0], weights[5]);
  EXPECT_THROW(align(*small.model, sources_, targets_, {.layer = 2}), Error);
  EXPECT_THROW(align(*small.model, sources_, targets_, {.head = 3}), Error);
  EXPECT_THROW(align(*small_translator("gru").model, sources_, targets_), Error);
}

TEST_F(Align, LinksLeaveTheEndTokensOut) {
  const Alignment alignment = {{0.7, 0.2, 0.1}, {0.1, 0.2, 0.7}, {0.3, 0.4, 0.3}, {1, 0, 0}};
  const std::vector<std::pair<int64_t, int64_t>> expected = {{0, 0}, {1, 2}};
  EXPECT_EQ(hard_links(alignment), expected);
  EXPECT_TRUE(hard_links({}).empty());
}

}  // namespace
}  // namespace limpid
