#include "training/rank_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/real.h"

namespace limpid {
namespace {

UpdateCosts costs() {
  return {.shards = 8,
          .tokens = 8000,
          .numbers = 40 << 20,
          .shard = 1,
          .add = 1e-9,
          .learn = 0.08,
          .rest = 0.01,
          .memory = 1e9};
}

TEST(Network, IsReadAsItIsWritten) {
  const Network network = parse_network("10Gbit,50us");
  EXPECT_DOUBLE_EQ(network.bytes_per_second, 1.25e9);
  EXPECT_DOUBLE_EQ(network.latency, 50e-6);
  EXPECT_DOUBLE_EQ(parse_network("100Mbit/s,1.5ms").bytes_per_second, 12.5e6);
  EXPECT_EQ(to_text(network), "10Gbit,50us");
  for (const char* wrong : {"", "10", "10Gbit", "10Gbit,", ",50us", "-1Gbit,1us", "10Gbps,1us", "10Gbit,50"})
    EXPECT_THROW(parse_network(wrong), Error) << wrong;
}

TEST(RankPlan, OneRankTakesWhatWasMeasured) {
  const RankPrediction one = predict(costs(), parse_network("1Gbit,50us"), 1);
  EXPECT_DOUBLE_EQ(one.seconds, 8 + 0.08 + 0.01);
  EXPECT_DOUBLE_EQ(one.efficiency, 1);
  EXPECT_DOUBLE_EQ(one.exposed, 0);
  EXPECT_DOUBLE_EQ(one.memory, 1e9);
}

TEST(RankPlan, ShardsGoToRanksAndTheBatchGrowsBeyondThem) {
  const Network fast = parse_network("100Gbit,5us");
  EXPECT_DOUBLE_EQ(predict(costs(), fast, 2).compute, 4);
  EXPECT_DOUBLE_EQ(predict(costs(), fast, 3).compute, 3);
  EXPECT_DOUBLE_EQ(predict(costs(), fast, 8).compute, 1);
  const RankPrediction many = predict(costs(), fast, 32);
  EXPECT_EQ(many.shards, 32);
  EXPECT_EQ(many.tokens, 32000);
  EXPECT_DOUBLE_EQ(many.compute, 1);
}

// By hand: two ranks send half of the gradients and half of the weights over the link, at 125 MB/s.
TEST(RankPlan, ANetworkThatHidesNothingTakesTheTimeOfItsBytes) {
  const double carried = 40.0 * (1 << 20) * sizeof(real) / 2 / 125e6;
  const RankPrediction two = predict(costs(), parse_network("1Gbit,50us"), 2);
  EXPECT_NEAR(two.exposed, 2 * carried, 0.1 * carried);
  EXPECT_NEAR(two.hidden, 0, 0.1);
  UpdateCosts early = costs();
  early.ready.assign(40, 2 * carried);  // complete long before the end of the pass
  const RankPrediction hidden = predict(early, parse_network("1Gbit,50us"), 2);
  EXPECT_NEAR(hidden.exposed, carried, 0.1 * carried);
  EXPECT_GT(hidden.hidden, 0.9);
}

// By hand: each of many ranks sends and receives the gradients and the weights about once. There are 640 blocks, so
// that of a thousand ranks some have none, and those that have one get it from all others.
TEST(RankPlan, ManyRanksCarryAsMuchEach) {
  UpdateCosts quick = costs();
  quick.add = quick.learn = 0;
  const double carried = 40.0 * (1 << 20) * sizeof(real) / 1.25e9;
  // A message to every other rank for each bucket of gradients (40, then one) and of weights.
  const double messages_16 = 2 * 40 * 15 * kSecondsPerMessage, messages_1024 = 2 * 1023 * kSecondsPerMessage;
  EXPECT_NEAR(predict(quick, parse_network("10Gbit,50us"), 16).exposed, 2 * carried * 15 / 16 + messages_16,
              0.1 * carried);
  EXPECT_NEAR(predict(quick, parse_network("10Gbit,50us"), 1024).exposed, 2 * carried * 1023 / 640 + messages_1024,
              0.1 * carried);
}

TEST(RankPlan, ASlowNetworkIsNoHelp) {
  EXPECT_EQ(useful_ranks_same_batch(costs(), parse_network("1Mbit,10ms")).useful, 1);
}

// By hand: what every rank does for every shard grows with the ranks, until nothing else counts.
TEST(RankPlan, WhatIsDoneForAllShardsGrowsWithThem) {
  const Network fast = parse_network("100Gbit,5us");
  UpdateCosts reading = costs();
  reading.each = 0.01;
  EXPECT_DOUBLE_EQ(predict(reading, fast, 1).seconds, predict(costs(), fast, 1).seconds + 8 * 0.01);
  EXPECT_NEAR(predict(reading, fast, 8).seconds, predict(costs(), fast, 8).seconds + 8 * 0.01, 1e-9);
  EXPECT_NEAR(predict(reading, fast, 100).seconds, predict(costs(), fast, 100).seconds + 100 * 0.01, 1e-9);
  EXPECT_NEAR(useful_ranks_growing_batch(reading, fast).efficient, 100, 12);  // then it takes as long as a shard
}

TEST(RankPlan, ABatchOfOneShardIsCutForAsManyRanksAsHelp) {
  const Network fast = parse_network("100Gbit,5us");
  UpdateCosts one = costs();
  one.shards = 1;
  one.tokens = 1000;
  one.rest = 0;
  // One rank takes 1.08 s; the weights alone take two times 13 ms in any number of ranks.
  const UsefulRanks same = useful_ranks_same_batch(one, fast);
  EXPECT_GT(same.efficient, 8);
  EXPECT_LT(same.efficient, 100);
  EXPECT_GE(same.useful, same.efficient);
  EXPECT_LT(same.useful, kMostRanks);
  const UsefulRanks growing = useful_ranks_growing_batch(one, fast);
  EXPECT_EQ(growing.efficient, kMostRanks);
  UpdateCosts cut = one;  // the same batch in eight shards is the same work
  cut.shards = 8;
  cut.shard /= 8;
  EXPECT_EQ(useful_ranks_same_batch(cut, fast).efficient, same.efficient);
}

TEST(RankPlan, RunningMeansAreSharedOut) {
  const Network network = parse_network("10Gbit,50us");
  const double state = 2.0 * (40 << 20) * sizeof(real), buckets = 4.0 * (1 << 20) * sizeof(real);
  UpdateCosts one_shard = costs();
  one_shard.shards = 1;
  EXPECT_NEAR(predict(one_shard, network, 4).memory, 1e9 - state * 3 / 4 + buckets * 3 / 4, 1e6);
}

}  // namespace
}  // namespace limpid
