#pragma once
// Partition: which rank sums up, and learns from, which numbers of a flat buffer of gradients. The buffer is cut into
// buckets, which travel one after another, and each bucket into a slice for every rank, so that all links carry the
// same. Slices consist of whole blocks; one that is too small for all ranks is given to some, and the next bucket to
// the others.

#include <cstdint>
#include <vector>

#include "cluster/communicator.h"
#include "cluster/number_range.h"
#include "kernels/reduce.h"

namespace limpid {

class Partition {
 public:
  // A block is what a sum of squares adds up at a time: so the norm of a gradient in slices has the bits of a whole
  // one.
  Partition(int64_t numbers, int ranks, int64_t block = kernels::kSquaresRange, int64_t blocks_per_bucket = 16);

  int64_t numbers() const { return numbers_; }
  int64_t block() const { return block_; }
  int64_t buckets() const { return buckets_; }
  NumberRange bucket(int64_t bucket) const;
  NumberRange slice(int64_t bucket, int rank) const;
  std::vector<NumberRange> slices_of(int rank) const;  // of all buckets, those that are not empty, in order

  // Every rank's slice, counted from the beginning of the bucket.
  RankBlocks blocks(int64_t bucket) const;

 private:
  int64_t numbers_, block_, bucket_, buckets_;
  int ranks_;
};

}  // namespace limpid
