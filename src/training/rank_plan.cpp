#include "training/rank_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "base/error.h"
#include "cluster/partition.h"
#include "cluster/shard_tree.h"

namespace limpid {
namespace {

// A courier looks after a transfer (cluster/patience.h) as the system gives it a turn.
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

// How long before the end of the backward pass these numbers are complete: as soon as the last of one rank's buckets
// that they lie in.
double ready_before(const UpdateCosts& costs, NumberRange range) {
  const int64_t bucket = Partition(costs.numbers, 1).bucket(0).count;
  double before = std::numeric_limits<double>::infinity();
  for (int64_t b = range.begin / bucket; b * bucket < range.end(); ++b)
    before = std::min(before, b < std::ssize(costs.ready) ? costs.ready[static_cast<size_t>(b)] : 0);
  return before;
}

UsefulRanks useful_ranks(const std::function<RankPrediction(int)>& predicted) {
  UsefulRanks result;
  bool efficient = true;
  double best = 0;
  for (int ranks = 1, last = 0; last < kMostRanks; ranks = std::min(kMostRanks, ranks + std::max(1, ranks / 32))) {
    last = ranks;
    const RankPrediction one = predicted(ranks);
    const double speed = static_cast<double>(one.tokens) / one.seconds;
    efficient = efficient && one.efficiency >= 0.5;
    if (efficient) result.efficient = ranks;
    if (speed > 1.02 * best) {
      result.useful = ranks;
      best = speed;
    }
  }
  return result;
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
  check(bits > 0 && latency > 0, "[plan] \"{}\" is no network: write its speed and its latency, as in 10Gbit,50us",
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
  // How long a bucket is on its way, and how long the next has to wait for it: a rank sends its share of the bucket,
  // and the owner of a slice gets that from all others; where not every rank owns one, others are under way to other
  // owners meanwhile.
  const auto carry = [&](int64_t numbers) {
    const int64_t blocks = (numbers + partition.block() - 1) / partition.block();
    const int64_t slice = std::min(numbers, (blocks + ranks - 1) / ranks * partition.block());
    const double out = bytes(numbers) * share / network.bytes_per_second,
                 in = bytes(slice) * (ranks - 1) / network.bytes_per_second;
    const double messages = (ranks - 1) * kSecondsPerMessage;
    return std::pair(std::max(out, in) + messages, std::max(out, in / kUnderWay) + messages);
  };
  double link_free = 0, summed = 0, under_way = 0, weights = 0, rest_of_last = 0;
  for (int64_t bucket = partition.buckets() - 1; bucket >= 0 && ranks > 1; --bucket) {
    const int64_t numbers = partition.bucket(bucket).count;
    const double begin = std::max(result.compute - ready_before(costs, partition.bucket(bucket)), link_free);
    const auto [way, turn] = carry(numbers);
    link_free = begin + turn * static_cast<double>(branches);
    under_way += turn * static_cast<double>(branches);
    weights += turn;
    rest_of_last = way - turn;
    const double arrived = begin + way * static_cast<double>(branches) + network.latency + kLook;
    summed = std::max(summed, arrived) + static_cast<double>(numbers) * share * costs.add;
  }
  const double waited = std::max(0.0, summed - result.compute);
  const double gathered = ranks == 1 ? 0 : weights + rest_of_last + network.latency + kLook;
  const double agreed = 5 * small_gather(network, ranks);  // losses and norm, the clock, interruptions
  const double learn = costs.learn / ranks;
  result.exposed = waited + std::max(0.0, gathered - learn) + agreed;
  result.hidden = under_way > 0 ? std::clamp(1 - waited / under_way, 0.0, 1.0) : 0;
  const double of_all = static_cast<double>(result.shards) * costs.each;
  result.seconds = of_all + result.compute + learn + costs.rest + result.exposed;

  const double alone = static_cast<double>(costs.shards) * (costs.each + costs.shard) + costs.learn + costs.rest;
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

UsefulRanks useful_ranks_same_batch(const UpdateCosts& costs, const Network& network) {
  return useful_ranks([&](int ranks) {
    UpdateCosts cut = costs;
    const double part = static_cast<double>(costs.shards) / ranks;
    cut.shards = ranks;
    cut.shard *= part;
    cut.each *= part;
    for (double& before : cut.ready) before *= part;
    return predict(cut, network, ranks);
  });
}

UsefulRanks useful_ranks_growing_batch(const UpdateCosts& costs, const Network& network) {
  UpdateCosts one = costs;
  one.shards = 1;
  one.tokens = std::max<int64_t>(costs.tokens / costs.shards, 1);
  return useful_ranks([&](int ranks) { return predict(one, network, ranks); });
}

}  // namespace limpid
