#pragma once
// GradientSum: adds up the gradients of the shards of an update, on this rank and with other ranks, by the tree of
// cluster/shard_tree.h. Buckets of the last shard's gradient are on their way while its backward pass still computes
// others. Afterwards each rank has the sums of its own slices (cluster/partition.h) in the buffer of the gradients.

#include <chrono>

#include "autograd/tape.h"
#include "cluster/courier.h"
#include "cluster/partition.h"
#include "cluster/shard_tree.h"

namespace limpid {

class GradientSum {
 public:
  GradientSum(Gradients& gradients, Courier& courier, const Partition& partition, int64_t shards);

  const ShardRange& own_shards() const { return own_; }

  // For each of the rank's shards in order: begin_shard(), the passes that make its gradient, end_shard(). The tape of
  // the last pass of the last shard is to be watched, before its forward pass.
  void begin_shard();
  void watch(Tape& tape);
  void end_shard();
  // Waits for the sums.
  void finish();

  // Of the last update: for every bucket, how many seconds before the end of the last shard's passes it was complete;
  // and how long these took.
  std::vector<double> ready() const;
  double last_shard() const { return std::chrono::duration<double>(ended_ - begun_).count(); }

 private:
  // The sum of a branch of the tree.
  struct Branch {
    ShardRange shards;
    std::shared_ptr<real> sum;
  };
  // A branch of some rank, as the owner of a slice sees it.
  struct RemoteBranch {
    ShardRange shards;
    int rank;
    size_t number;  // among those of its rank
  };

  bool is_last() const { return next_ + 1 == own_.end; }
  void add_branch(Branch branch);
  void merge_bucket(NumberRange range);
  void send_ready();
  real* own_branch(size_t number) const;
  void send(int64_t bucket);
  void sum_up(NumberRange slice, const std::vector<std::shared_ptr<real>>& received);

  Gradients& gradients_;
  Courier& courier_;
  const Partition& partition_;
  ShardTree tree_;
  ShardRange own_;
  std::vector<RemoteBranch> all_;  // the branches of all ranks, in the order of the shards
  size_t rounds_ = 0;              // branches of the rank that has the most

  int64_t next_ = 0;                                             // shard
  std::vector<Branch> branches_;                                 // of this update so far
  std::vector<std::shared_ptr<real>> spare_;                     // buffers
  std::vector<std::vector<const Weight*>> members_;              // of each bucket: weights with numbers in it
  std::vector<int64_t> missing_;                                 // of each bucket: how many of them are not complete
  int64_t unsent_ = 0;                                           // buckets that remain; sent from the last to the first
  std::chrono::steady_clock::time_point begun_, ended_;          // the last shard
  std::vector<std::chrono::steady_clock::time_point> complete_;  // the buckets of it
};

}  // namespace limpid
