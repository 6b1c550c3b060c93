#pragma once
// What a run will need on a number of ranks that nobody has started yet: a model of its time and memory, made of what
// one rank measures and of what the network is said to do.

#include <cstdint>
#include <string>
#include <vector>

namespace limpid {

struct Network {
  double bytes_per_second = 0;  // of one rank's link, in each direction
  double latency = 0;           // seconds until a small message is there
};

// "10Gbit,50us"; also Mbit, kbit, bit, ms, s, and "/s" behind the first. Another text is an Error.
Network parse_network(const std::string& text);
std::string to_text(const Network& network);

// Of one update on one rank, in seconds and numbers.
struct UpdateCosts {
  int64_t shards = 1;         // of the recipe
  int64_t tokens = 0;         // of an update
  int64_t numbers = 0;        // that are learned
  double shard = 0;           // forward and backward pass of one shard
  std::vector<double> ready;  // of every bucket: how long before the end of the shard's backward pass it is complete
  double add = 0;             // of one number to another
  double learn = 0;           // norm and Adam over all numbers
  double each = 0;            // what every rank does for each shard, whosever it is: reading examples, counting tokens
  double rest = 0;            // what every rank does once: moving average, display
  double memory = 0;          // bytes of a rank that has everything
};

struct RankPrediction {
  int ranks = 1;
  int64_t shards = 1;     // as many as ranks where the recipe has fewer
  int64_t tokens = 0;     // of an update, which grows with the shards
  double seconds = 0;     // per update
  double compute = 0;     // of these: forward and backward passes
  double exposed = 0;     // of these: the network, as far as nothing else goes on meanwhile
  double hidden = 0;      // share of the reduction of gradients that goes on during backward passes
  double efficiency = 0;  // tokens per second and rank, beside one rank's
  double memory = 0;      // bytes per rank
};

RankPrediction predict(const UpdateCosts& costs, const Network& network, int ranks);

// Assumed of a message to another rank: what sending and receiving it through TCP takes of a core.
inline constexpr double kSecondsPerMessage = 10e-6;

inline constexpr int kMostRanks = 1024;  // that anything is predicted for unless asked

struct UsefulRanks {
  int efficient = 1;  // up to so many an efficiency of at least a half
  int useful = 1;     // up to so many more tokens per second (a gain of less than 2 % is none)
};

// One shard for each rank: of the recipe's own batch, which is cut into as many, or of a batch that grows with the
// ranks, each shard as large as now.
UsefulRanks useful_ranks_same_batch(const UpdateCosts& costs, const Network& network);
UsefulRanks useful_ranks_growing_batch(const UpdateCosts& costs, const Network& network);

}  // namespace limpid
