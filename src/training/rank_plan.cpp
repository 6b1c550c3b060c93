#include "training/rank_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "cluster/partition.h"
#include "cluster/shard_tree.h"

namespace limpid {
namespace {

// A courier looks after a transfer every 50 µs and more (cluster/patience.h), as the system gives it a turn.
constexpr double kLook = 0.1e-3;
constexpr double kUnderWay = 4;  // buckets

// A number with one of some units behind it; 0 where it is not.
double number_with(const std::string& text, const std::map<std::string, double>& units) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const auto unit = units.find(end);
  return end == text.c_str() || unit == units.end() || !(number > 0) || !std::isfinite(number) ? 0
                                                                                               : number * unit->second;
}

// Texts of all ranks to all: MPI's algorithms take one round for each doubling.
double small_gather(const Network& network, int ranks) {
  return ranks == 1 ? 0 : std::bit_width(static_cast<unsigned>(ranks - 1)) * network.latency + kLook;
}

}  // namespace

Network parse_network(const std::string& text) {
  const size_t comma = text.find(',');
  std::string speed = text.substr(0, comma);
  if (speed.ends_with("/s")) speed.resize(speed.size() - 2);
  const double bits = number_with(speed, {{"bit", 1}, {"kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}, {"Tbit", 1e12}});
  const double latency = comma == std::string::npos ? 0
                                                    : number_with(text.substr(comma + 1),
                                                                  {{"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}});
  check(bits > 0 && latency > 0,
        "[plan] \"{}\" is no network: write its speed and its latency, as in 10Gbit,50us (limpid bench allreduce under "
        "mpirun measures them)",
        text);
  return {.bytes_per_second = bits / 8, .latency = latency};
}

std::string to_text(const Network& network) {
  return fmt::format("{:.3g}Gbit,{:.3g}us", 8e-9 * network.bytes_per_second, 1e6 * network.latency);
}

RankPrediction predict(const UpdateCosts& costs, const Network& network, int ranks) {
  RankPrediction result{.ranks = ranks, .shards = std::max<int64_t>(costs.shards, ranks)};
  result.tokens = costs.tokens * result.shards / costs.shards;
  const int64_t most = (result.shards + ranks - 1) / ranks;  // shards of the rank that has the most
  result.compute = static_cast<double>(most) * costs.shard;
  const auto bytes = [](int64_t numbers) { return static_cast<double>(numbers) * sizeof(real); };

  // Buckets go out one after another, from the last to the first, as the backward pass completes them.
  const Partition partition(costs.numbers, ranks);
  const ShardTree tree(result.shards);
  size_t branches = 1;
  for (int rank = 0; rank < ranks; ++rank)
    branches = std::max(branches, tree.branches(shards_of_rank(result.shards, rank, ranks)).size());
  const double share = static_cast<double>(ranks - 1) / ranks;
  double link_free = 0, summed = 0, under_way = 0;
  for (int64_t bucket = partition.buckets() - 1; bucket >= 0 && ranks > 1; --bucket) {
    const int64_t numbers = partition.bucket(bucket).count;
    const double before = bucket < std::ssize(costs.ready) ? costs.ready[static_cast<size_t>(bucket)] : 0;
    const double begin = std::max(result.compute - before, link_free);
    const double carries = bytes(numbers) * share * static_cast<double>(branches) / network.bytes_per_second;
    link_free = begin + carries;
    under_way += carries;
    const double arrived = link_free + network.latency + kLook;
    summed = std::max(summed, arrived) + static_cast<double>(numbers) * share * costs.add;
  }
  const double waited = std::max(0.0, summed - result.compute);
  const double gathered =
      ranks == 1 ? 0 : bytes(costs.numbers) * share / network.bytes_per_second + network.latency + kLook;
  const double agreed = 5 * small_gather(network, ranks);  // losses and norm, the clock, interruptions
  const double learn = costs.learn / ranks;
  result.exposed = waited + std::max(0.0, gathered - learn) + agreed;
  result.hidden = under_way > 0 ? std::clamp(1 - waited / under_way, 0.0, 1.0) : 0;
  result.seconds = result.compute + learn + costs.rest + result.exposed;

  const double alone = static_cast<double>(costs.shards) * costs.shard + costs.learn + costs.rest;
  const double speed = static_cast<double>(result.tokens) / result.seconds;
  result.efficiency = speed / ranks / (static_cast<double>(costs.tokens) / alone);

  // Weights, gradients and what else there is; of the running means only the rank's own; sums of branches that wait for
  // others; and buckets under way.
  const int64_t depth = std::bit_width(static_cast<uint64_t>(most)) - 1,
                before = std::bit_width(static_cast<uint64_t>(costs.shards)) - 1;
  result.memory =
      costs.memory - 2 * bytes(costs.numbers) * share + bytes(costs.numbers) * static_cast<double>(depth - before);
  if (ranks > 1) result.memory += kUnderWay * bytes(partition.bucket(0).count) * share * static_cast<double>(branches);
  return result;
}

int most_useful_ranks(const UpdateCosts& costs, const Network& network) {
  int best = 1;
  double seconds = predict(costs, network, 1).seconds;
  for (int ranks = 2; ranks <= costs.shards; ++ranks)
    if (const double now = predict(costs, network, ranks).seconds; now < 0.98 * seconds) {
      best = ranks;
      seconds = now;
    }
  return best;
}

}  // namespace limpid
