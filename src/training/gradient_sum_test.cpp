#include "training/gradient_sum.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/thread_ranks.h"
#include "models/small_models.h"

namespace limpid {
namespace {

std::vector<real> random_gradient(int64_t count, uint64_t shard) {
  Random random(shard + 1);
  std::vector<real> numbers(count);
  for (real& x : numbers) x = static_cast<real>(random.normal() * std::exp(3 * random.normal()));
  return numbers;
}

std::vector<real> plain_sum(const ShardTree& tree, ShardRange range, int64_t count) {
  if (range.end - range.begin == 1) return random_gradient(count, static_cast<uint64_t>(range.begin));
  int64_t middle = range.begin + 1;
  while (!tree.adds(range.begin, middle, range.end)) ++middle;
  std::vector<real> sum = plain_sum(tree, {range.begin, middle}, count);
  const std::vector<real> right = plain_sum(tree, {middle, range.end}, count);
  for (int64_t i = 0; i < count; ++i) sum[i] += right[i];
  return sum;
}

// What the owners of the slices have in the end, for gradients that are written weight by weight.
std::vector<real> sum_on_ranks(int64_t shards, int ranks) {
  std::vector<real> result;
  on_ranks(ranks, [&](Courier& courier) {
    const SmallModel small = small_model(small_configs().at("marian"), 1);
    Gradients gradients(*small.parameters);
    const Partition partition(gradients.size(), ranks, 64, 3);
    GradientSum sum(gradients, courier, partition, shards);
    std::vector<real> own(gradients.size());
    for (int update = 0; update < 2; ++update) {  // buffers are used again
      for (int64_t s = sum.own_shards().begin; s < sum.own_shards().end; ++s) {
        sum.begin_shard();
        const std::vector<real> numbers = random_gradient(gradients.size(), static_cast<uint64_t>(s));
        for (const Weight& weight : gradients.weights())
          if (weight.trainable)
            std::copy_n(numbers.data() + weight.offset, weight.size(), gradients.open_to_add(weight));
        sum.end_shard();
      }
      sum.finish();
    }
    for (const NumberRange& slice : partition.slices_of(courier.rank()))
      std::copy_n(gradients.data() + slice.begin, slice.count, own.data() + slice.begin);
    const std::string mine(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(real));
    const std::vector<std::string> all = courier.gather(mine);
    if (!courier.first()) return;
    result.resize(own.size());
    for (int rank = 0; rank < ranks; ++rank)
      for (const NumberRange& slice : partition.slices_of(rank))
        std::memcpy(result.data() + slice.begin, all[rank].data() + slice.begin * static_cast<int64_t>(sizeof(real)),
                    static_cast<size_t>(slice.count) * sizeof(real));
  });
  return result;
}

TEST(GradientSum, HasTheBitsOfTheTreeWithAnyNumberOfRanks) {
  const SmallModel small = small_model(small_configs().at("marian"), 1);
  const Gradients layout(*small.parameters);
  for (const int64_t shards : {1, 2, 3, 5, 6, 8}) {
    const std::vector<real> expected = plain_sum(ShardTree(shards), {0, shards}, layout.size());
    for (int ranks = 1; ranks <= shards; ++ranks) {
      const std::vector<real> found = sum_on_ranks(shards, ranks);
      for (const Weight& weight : layout.weights()) {
        if (!weight.trainable) continue;
        EXPECT_EQ(0, std::memcmp(found.data() + weight.offset, expected.data() + weight.offset,
                                 static_cast<size_t>(weight.size()) * sizeof(real)))
            << shards << " shards on " << ranks << " ranks: " << weight.name;
      }
    }
  }
}

// A real backward pass: every weight is complete once, before the pass is over, and not before its last addition (an
// addition after it would be an Error).
TEST(GradientSum, BackwardSaysWhenAGradientIsComplete) {
  for (const auto& [name, config] : small_configs()) {
    const SmallModel small = small_model(config, 1);
    Gradients gradients(*small.parameters), whole(*small.parameters);
    Arena arena;
    std::map<int64_t, int> told;
    for (Gradients* to : {&whole, &gradients}) {
      Tape tape(arena, to);
      if (to == &gradients)
        tape.when_complete([&](const Weight& weight) {
          gradients.finish(weight);
          ++told[weight.index];
        });
      limpid::Run run({.arena = arena, .tape = &tape, .train = true, .seed = 1});
      small.model->loss(run, small.batch, {});
      tape.backward();
    }
    whole.finish();
    gradients.finish();
    EXPECT_EQ(0, std::memcmp(whole.data(), gradients.data(), static_cast<size_t>(whole.size()) * sizeof(real))) << name;
    for (const auto& [index, times] : told) EXPECT_EQ(times, 1) << name;
    EXPECT_GT(told.size(), gradients.weights().size() / 2) << name;
  }
}

}  // namespace
}  // namespace limpid
