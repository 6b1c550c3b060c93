#include "cluster/shard_tree.h"

#include <bit>

namespace limpid {
namespace {

// Where a branch of more than one shard is cut: the left part is the largest power of two that leaves a right one.
int64_t middle_of(ShardRange branch) {
  return branch.begin + static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(branch.end - branch.begin - 1)));
}

void add_branches(ShardRange branch, ShardRange range, std::vector<ShardRange>& found) {
  if (branch.end <= range.begin || range.end <= branch.begin) return;
  if (range.begin <= branch.begin && branch.end <= range.end) {
    found.push_back(branch);
    return;
  }
  const int64_t middle = middle_of(branch);
  add_branches({branch.begin, middle}, range, found);
  add_branches({middle, branch.end}, range, found);
}

}  // namespace

bool ShardTree::adds(int64_t begin, int64_t middle, int64_t end) const {
  ShardRange branch{0, shards_};
  while (branch.end - branch.begin > 1) {
    const int64_t cut = middle_of(branch);
    if (branch.begin == begin && branch.end == end) return cut == middle;
    branch = begin < cut ? ShardRange{branch.begin, cut} : ShardRange{cut, branch.end};
  }
  return false;
}

std::vector<ShardRange> ShardTree::branches(ShardRange range) const {
  std::vector<ShardRange> found;
  if (range.begin < range.end) add_branches({0, shards_}, range, found);
  return found;
}

ShardRange shards_of_rank(int64_t shards, int rank, int ranks) {
  return {shards * rank / ranks, shards * (rank + 1) / ranks};
}

}  // namespace limpid
