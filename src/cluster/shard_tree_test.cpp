#include "cluster/shard_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace limpid {
namespace {

using ::testing::ElementsAre;

std::string sum_text(const ShardTree& tree, ShardRange range) {
  if (range.end - range.begin == 1) return std::to_string(range.begin);
  for (int64_t middle = range.begin + 1; middle < range.end; ++middle)
    if (tree.adds(range.begin, middle, range.end))
      return "(" + sum_text(tree, {range.begin, middle}) + "+" + sum_text(tree, {middle, range.end}) + ")";
  return "?";
}

TEST(ShardTree, AddsPairsOfPairs) {
  EXPECT_EQ(sum_text(ShardTree(1), {0, 1}), "0");
  EXPECT_EQ(sum_text(ShardTree(3), {0, 3}), "((0+1)+2)");
  EXPECT_EQ(sum_text(ShardTree(7), {0, 7}), "(((0+1)+(2+3))+((4+5)+6))");
  EXPECT_EQ(sum_text(ShardTree(8), {0, 8}), "(((0+1)+(2+3))+((4+5)+(6+7)))");
  EXPECT_FALSE(ShardTree(8).adds(1, 2, 3));
}

TEST(ShardTree, BranchesOfARankAreTheLargest) {
  const ShardTree tree(8);
  EXPECT_THAT(tree.branches({0, 8}), ElementsAre(ShardRange{0, 8}));
  EXPECT_THAT(tree.branches({2, 5}), ElementsAre(ShardRange{2, 4}, ShardRange{4, 5}));
  EXPECT_THAT(tree.branches({3, 6}), ElementsAre(ShardRange{3, 4}, ShardRange{4, 6}));
  EXPECT_THAT(tree.branches({1, 7}),
              ElementsAre(ShardRange{1, 2}, ShardRange{2, 4}, ShardRange{4, 6}, ShardRange{6, 7}));
}

TEST(ShardTree, RanksShareAllShards) {
  for (int ranks : {1, 2, 3, 5, 8}) {
    int64_t next = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const ShardRange own = shards_of_rank(8, rank, ranks);
      EXPECT_EQ(own.begin, next);
      EXPECT_GT(own.end, own.begin);
      next = own.end;
    }
    EXPECT_EQ(next, 8);
  }
}

}  // namespace
}  // namespace limpid
