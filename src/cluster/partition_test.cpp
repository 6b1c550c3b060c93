#include "cluster/partition.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace limpid {
namespace {

TEST(Partition, EveryNumberHasOneOwnerAndSharesAreEven) {
  for (const int64_t numbers : {1, 63, 64, 1000, 4096, 10007})
    for (const int ranks : {1, 2, 3, 7, 100}) {
      const Partition partition(numbers, ranks, 64, 4);
      std::vector<int> owners(numbers);
      int64_t most = 0, least = numbers;
      for (int rank = 0; rank < ranks; ++rank) {
        int64_t mine = 0, last = 0;
        for (const NumberRange& slice : partition.slices_of(rank)) {
          EXPECT_EQ(slice.begin % 64, 0);
          EXPECT_GE(slice.begin, last);
          last = slice.end();
          for (int64_t i = slice.begin; i < slice.end(); ++i) ++owners[i];
          mine += slice.count;
        }
        most = std::max(most, mine);
        least = std::min(least, mine);
      }
      EXPECT_TRUE(std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; }));
      EXPECT_LE(most - least, 2 * 64) << numbers << " numbers, " << ranks << " ranks";
    }
}

TEST(Partition, ABucketHasABlockForEveryRank) {
  const Partition partition(64 * 1000, 100, 64, 4);
  for (int64_t bucket = 0; bucket < partition.buckets(); ++bucket)
    for (int rank = 0; rank < 100; ++rank) EXPECT_EQ(partition.slice(bucket, rank).count, 64);
}

TEST(Partition, BlocksAreCountedFromTheBucket) {
  const Partition partition(1000, 3, 64, 4);
  const RankBlocks blocks = partition.blocks(1);
  for (int rank = 0; rank < 3; ++rank) {
    const NumberRange slice = partition.slice(1, rank);
    EXPECT_EQ(blocks.counts[rank], slice.count);
    EXPECT_EQ(blocks.offsets[rank] + partition.bucket(1).begin, slice.begin);
  }
}

}  // namespace
}  // namespace limpid
