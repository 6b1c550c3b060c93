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
  EXPECT_EQ(most_useful_ranks(costs(), fast), 8);
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
  EXPECT_NEAR(predict(quick, parse_network("10Gbit,50us"), 16).exposed, 2 * carried * 15 / 16, 0.1 * carried);
  EXPECT_NEAR(predict(quick, parse_network("10Gbit,50us"), 1024).exposed, 2 * carried * 1023 / 640, 0.1 * carried);
}

TEST(RankPlan, ASlowNetworkIsNoHelp) { EXPECT_EQ(most_useful_ranks(costs(), parse_network("1Mbit,10ms")), 1); }

TEST(RankPlan, RunningMeansAreSharedOut) {
  const Network network = parse_network("10Gbit,50us");
  const double state = 2.0 * (40 << 20) * sizeof(real), buckets = 4.0 * (1 << 20) * sizeof(real);
  UpdateCosts one_shard = costs();
  one_shard.shards = 1;
  EXPECT_NEAR(predict(one_shard, network, 4).memory, 1e9 - state * 3 / 4 + buckets * 3 / 4, 1e6);
}

}  // namespace
}  // namespace limpid
