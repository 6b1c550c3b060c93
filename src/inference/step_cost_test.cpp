#include "inference/step_cost.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace limpid {
namespace {

// A machine: 9 ms for the weights, 0.8 ms per written token, 0.3 ms per token of a prompt, 0.4 µs per key.
double true_seconds(const StepWork& work) {
  return 9e-3 + 0.8e-3 * static_cast<double>(work.written) + 0.3e-3 * static_cast<double>(work.prompt) +
         0.4e-6 * static_cast<double>(work.keys);
}

StepWork some_work(Random& random) {
  const auto written = static_cast<int64_t>(random.below(65)), prompt = static_cast<int64_t>(random.below(100));
  return {written, prompt, written * 80 + prompt * static_cast<int64_t>(1 + random.below(1000))};
}

TEST(StepCost, TheFirstStepSetsTheScale) {
  StepCost cost;
  EXPECT_FALSE(cost.known());
  const StepWork work{.written = 3, .prompt = 20, .keys = 500};
  cost.learn(work, 0.05);
  EXPECT_TRUE(cost.known());
  EXPECT_DOUBLE_EQ(cost.seconds(work), 0.05);
}

TEST(StepCost, LearnsWhatEachPartTakes) {
  StepCost cost;
  Random random(3);
  for (int i = 0; i < 400; ++i) {
    const StepWork work = some_work(random);
    cost.learn(work, true_seconds(work));
  }
  for (int i = 0; i < 100; ++i) {
    const StepWork work = some_work(random);
    EXPECT_NEAR(cost.seconds(work) / true_seconds(work), 1, 0.15) << work.written << " " << work.prompt;
  }
  EXPECT_NEAR(cost.per_prompt_token(), 0.3e-3, 0.1e-3);
}

// A machine that is twice as slow from now on is known as such a few steps later; after one step that took very
// long less is read, which hardly matters some steps later.
TEST(StepCost, FollowsTheMachineAndNotASingleStep) {
  StepCost cost;
  Random random(4);
  for (int i = 0; i < 400; ++i) {
    const StepWork work = some_work(random);
    cost.learn(work, true_seconds(work));
  }
  const StepWork work{.written = 64, .prompt = 40, .keys = 20000};
  const double before = cost.per_prompt_token();
  cost.learn(work, 3);
  EXPECT_LT(cost.seconds(work), 1.3 * true_seconds(work));
  EXPECT_GT(cost.per_prompt_token(), 2 * before);
  EXPECT_LT(cost.per_prompt_token(), 4 * before);
  for (int i = 0; i < 8; ++i) {
    const StepWork next = some_work(random);
    cost.learn(next, true_seconds(next));
  }
  EXPECT_LT(cost.per_prompt_token(), 1.3 * before);
  EXPECT_DOUBLE_EQ(cost.times(2).seconds(work), 2 * cost.seconds(work));
  for (int i = 0; i < 30; ++i) {
    const StepWork next = some_work(random);
    cost.learn(next, 2 * true_seconds(next));
  }
  EXPECT_NEAR(cost.seconds(work) / true_seconds(work), 2, 0.3);
}

}  // namespace
}  // namespace limpid
