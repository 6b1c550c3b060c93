#include "app/allreduce_bench.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "app/measuring.h"
#include "base/error.h"
#include "cluster/partition.h"
#include "training/rank_plan.h"

namespace limpid {
namespace {

// All buckets to their owners, which add up what they get, and back to all.
void reduce(Courier& ranks, const Partition& partition, std::vector<real>& numbers, std::vector<real>& others) {
  for (int64_t bucket = 0; bucket < partition.buckets(); ++bucket) {
    const NumberRange range = partition.bucket(bucket), slice = partition.slice(bucket, ranks.rank());
    RankBlocks sent = partition.blocks(bucket), got = sent;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      got.counts[rank] = rank == ranks.rank() ? 0 : static_cast<int>(slice.count);
      got.offsets[rank] = rank * static_cast<int>(slice.count);
    }
    sent.counts[ranks.rank()] = 0;
    const size_t place = static_cast<size_t>(bucket % 4) * others.size() / 4;  // as many are under way
    ranks.post(
        [=, &numbers, &others](Communicator& communicator) {
          return communicator.start_exchange(numbers.data() + range.begin, sent, others.data() + place, got);
        },
        [=, &numbers, &others, &ranks] {
          for (int rank = 0; rank < ranks.size(); ++rank)
            for (int64_t i = 0; rank != ranks.rank() && i < slice.count; ++i)
              numbers[slice.begin + i] += others[place + got.offsets[rank] + i];
        });
  }
  ranks.finish();
  for (int64_t bucket = 0; bucket < partition.buckets(); ++bucket)
    ranks.post(
        [&, bucket](Communicator& communicator) {
          return communicator.start_gather(numbers.data() + partition.bucket(bucket).begin, partition.blocks(bucket));
        },
        [] {});
  ranks.finish();
}

}  // namespace

nlohmann::ordered_json bench_allreduce(const AllreduceBench& options) {
  Courier ranks(join_mpirun(options.ranks));
  check(ranks.size() > 1, "[bench] allreduce measures between ranks: mpirun -n 2 limpid bench allreduce");
  const int64_t count = options.mb * (1 << 20) / static_cast<int64_t>(sizeof(real));
  const Partition partition(count, ranks.size());
  std::vector<real> numbers(count, 1),
      others(static_cast<size_t>(4 * (partition.bucket(0).count + partition.block() * ranks.size())));
  const double seconds = best_seconds(options.rounds, [&] {
    ranks.gather("");  // all at once
    reduce(ranks, partition, numbers, others);
  });
  const double small = best_seconds(50 * options.rounds, [&] { ranks.gather("x"); });
  // A text to all is two messages, its length and itself, in one round for each doubling of the ranks.
  const double latency = small / 2 / std::bit_width(static_cast<unsigned>(ranks.size() - 1));
  const double bytes = 2.0 * static_cast<double>(count) * sizeof(real) * (ranks.size() - 1) / ranks.size();
  const Network network{.bytes_per_second = bytes / seconds, .latency = latency};
  if (!ranks.first()) return {};
  return {{"bench", "allreduce"},
          {"ranks", ranks.size()},
          {"mb", options.mb},
          {"seconds", rounded(seconds, 1e5)},
          {"gbit", rounded(8e-9 * network.bytes_per_second, 1000)},
          {"latency_us", rounded(1e6 * latency, 10)},
          {"network", to_text(network)}};
}

}  // namespace limpid
