#include "cluster/partition.h"

#include <algorithm>

namespace limpid {

Partition::Partition(int64_t numbers, int ranks, int64_t block, int64_t blocks_per_bucket)
    : numbers_(numbers),
      block_(block),
      bucket_(block * std::max<int64_t>(blocks_per_bucket, ranks)),
      buckets_((numbers + bucket_ - 1) / bucket_),
      ranks_(ranks) {}

NumberRange Partition::bucket(int64_t bucket) const {
  const int64_t begin = bucket * bucket_;
  return {begin, std::min(bucket_, numbers_ - begin)};
}

NumberRange Partition::slice(int64_t bucket, int rank) const {
  const NumberRange all = this->bucket(bucket);
  const int64_t blocks = (all.count + block_ - 1) / block_;
  // The first ranks get one block more; which rank is the first goes round.
  const int64_t place = ((rank - all.begin / block_) % ranks_ + ranks_) % ranks_;
  const int64_t each = blocks / ranks_, more = blocks % ranks_;
  const int64_t first = place * each + std::min(place, more), count = each + (place < more ? 1 : 0);
  const int64_t begin = std::min(first * block_, all.count), end = std::min((first + count) * block_, all.count);
  return {all.begin + begin, end - begin};
}

std::vector<NumberRange> Partition::slices_of(int rank) const {
  std::vector<NumberRange> slices;
  for (int64_t b = 0; b < buckets_; ++b)
    if (const NumberRange part = slice(b, rank); part.count > 0) slices.push_back(part);
  return slices;
}

RankBlocks Partition::blocks(int64_t bucket) const {
  RankBlocks blocks;
  for (int rank = 0; rank < ranks_; ++rank) {
    const NumberRange part = slice(bucket, rank);
    blocks.counts.push_back(static_cast<int>(part.count));
    blocks.offsets.push_back(static_cast<int>(part.begin - bucket * bucket_));
  }
  return blocks;
}

}  // namespace limpid
