#pragma once
// One optimiser step on the shapes of train-step, with its batch shared out over the ranks of mpirun.

#include <nlohmann/json.hpp>

#include "app/ranks.h"

namespace limpid {

struct DataParallelBench {
  std::string shape = "tiny";
  int steps = 5;        // after one to warm up
  int64_t shards = 0;   // of a batch; 0: one per rank
  int64_t batches = 1;  // of the shape, put together to one
  std::string network;  // to predict other numbers of ranks on, from one; empty: nothing is predicted
  RankOptions ranks;
};

// tokens_per_second of all ranks by the median step; of it in seconds: compute (last_shard: of one shard), waited (for
// sums), learned, gathered (weights); hidden: share of the reduction that went on during the backward pass; rss_mb: the
// most of any rank; predicted: seconds that the model of `limpid plan` makes of one rank's timings for 1 to 1,024.
// Empty but on the first.
nlohmann::ordered_json bench_data_parallel(const DataParallelBench& options);

}  // namespace limpid
