#pragma once
// How fast the ranks that mpirun has started exchange gradients and weights.

#include <nlohmann/json.hpp>

#include "app/ranks.h"

namespace limpid {

struct AllreduceBench {
  int rounds = 5;   // the best counts
  int64_t mb = 64;  // of gradients
  RankOptions ranks;
};

// network: what `limpid plan --network` takes; seconds of one reduction with everything that training does about it
// (buckets, sums in order, weights back to all), latency_us and gbit of one rank's link. Empty on ranks but the first.
nlohmann::ordered_json bench_allreduce(const AllreduceBench& options);

}  // namespace limpid
