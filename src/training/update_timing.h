#pragma once
// What an update spends its time on.

#include <vector>

namespace limpid {

// Seconds.
struct UpdateTiming {
  double read = 0;       // examples, before all the rest; 0 where they were given
  double cut = 0;        // the batches into shards, and their tokens counted: of all ranks' shards
  double compute = 0;    // after that, until the last backward pass was over
  double waited = 0;     // after that, for the sums of all ranks
  double under_way = 0;  // transfers of gradients, hidden behind the backward pass or waited for
  double learned = 0;    // after that: norm, Adam, weights from the other ranks
  double gathered = 0;   // of these: waited for weights
  std::vector<double>
      ready;              // of every bucket of the last shard's gradient: how long before the end of its backward pass
  double last_shard = 0;  // forward and backward pass of the last shard
};

}  // namespace limpid
