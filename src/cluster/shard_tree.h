#pragma once
// The tree by which the shards of a batch are added up. It depends on the number of shards alone, so that
// floating-point sums have the same bits however the shards lie on ranks:
//
//   8 shards   ((0+1)+(2+3)) + ((4+5)+(6+7))        7 shards   ((0+1)+(2+3)) + ((4+5)+6)
//
// A rank has shards that follow one another. It adds up those that are whole branches of the tree; what other ranks
// need of it are the sums of these branches.

#include <cstdint>
#include <vector>

namespace limpid {

struct ShardRange {
  int64_t begin = 0, end = 0;
  bool operator==(const ShardRange&) const = default;
};

class ShardTree {
 public:
  explicit ShardTree(int64_t shards) : shards_(shards) {}
  int64_t shards() const { return shards_; }

  // Whether the tree adds the sum of [begin, middle) to that of [middle, end).
  bool adds(int64_t begin, int64_t middle, int64_t end) const;

  // The largest branches that lie in the range, in order.
  std::vector<ShardRange> branches(ShardRange range) const;

 private:
  int64_t shards_;
};

// The shards of a rank, in equal parts as far as may be.
ShardRange shards_of_rank(int64_t shards, int rank, int ranks);

}  // namespace limpid
