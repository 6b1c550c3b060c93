#include "inspect/pass_memory.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "inspect/lens.h"
#include "inspect/small_session.h"

namespace limpid {
namespace {

constexpr int64_t kPlenty = int64_t{1} << 30;

void expect_near(const TapValues& got, const TapValues& expected, const std::string& name) {
  EXPECT_EQ(got.pairs, expected.pairs) << name;
  EXPECT_EQ(got.heads, expected.heads) << name;
  EXPECT_EQ(got.positions, expected.positions) << name;
  EXPECT_EQ(got.cols, expected.cols) << name;
  const std::span<const real> numbers = got.all(), others = expected.all();
  ASSERT_EQ(numbers.size(), others.size()) << name;
  // Watching everything takes other kernels, so equal within rounding.
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == others[i]) continue;  // also what a mask forbids
    ASSERT_NEAR(static_cast<double>(numbers[i]), static_cast<double>(others[i]), 2e-5) << name;
  }
}

class PassMemoryTest : public testing::TestWithParam<std::string> {
 protected:
  Example remembering(int64_t most_bytes) const {
    Example example = small.example();
    example.memory = std::make_shared<PassMemory>(small.session, most_bytes, Arena());
    return example;
  }
  std::vector<std::string> all_taps() const {
    std::vector<std::string> names;
    for (const TapInfo& tap : small.session.taps()) names.push_back(tap.name);
    return names;
  }

  SmallSession small{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(All, PassMemoryTest,
                         testing::Values("gpt2", "llama", "marian", "gru_attention", "lstm_reversed", "bert"),
                         [](const auto& one) { return one.param; });

TEST_P(PassMemoryTest, WhatIsRememberedIsWhatAPassShows) {
  const Model& model = small.session.model();
  const Example plain = small.example();
  for (const int64_t bytes : {kPlenty, int64_t{2000}, int64_t{0}}) {  // everything at once, some of it, nothing
    const Example example = remembering(bytes);
    for (const std::string& name : all_taps()) {
      const auto expected = tap_values(model, plain, {name}), got = tap_values(model, example, {name});
      ASSERT_EQ(got.size(), expected.size()) << name;
      for (const auto& [tap, values] : expected) expect_near(got.at(tap), values, tap);
    }
    const Tensor expected = forward_logits(model, plain, nullptr), got = forward_logits(model, example, nullptr);
    ASSERT_EQ(got.rows(), expected.rows());
    for (int64_t i = 0; i < got.rows(); ++i)
      for (int64_t j = 0; j < got.cols(); ++j) ASSERT_NEAR(got.values()(i, j), expected.values()(i, j), 2e-5);
  }
}

// Counts passes, and may wait in the first of them.
class Counter : public Probe {
 public:
  explicit Counter(std::function<void()> in_first = {}) : in_first_(std::move(in_first)) {}

  bool wants(std::string_view name) const override { return name.ends_with("embed"); }
  Tensor visit(const Tap& tap) override {
    if (++seen[tap.name] == 1 && in_first_) std::exchange(in_first_, {})();
    return tap.value;
  }
  std::map<std::string, int> seen;

 private:
  std::function<void()> in_first_;
};

TEST_P(PassMemoryTest, OneTextIsRunOnce) {
  const Model& model = small.session.model();
  for (const bool logits_first : {true, false}) {
    Example example = remembering(kPlenty);
    const auto counter = std::make_shared<Counter>();
    example.changes = counter;
    if (logits_first) forward_logits(model, example, nullptr);
    tap_values(model, example, {all_taps().back()});
    const std::map<std::string, int> once = counter->seen;
    ASSERT_FALSE(once.empty());
    for (const std::string& name : all_taps()) tap_values(model, example, {name});
    logit_lens(model, example, {});
    forward_logits(model, example, nullptr);
    EXPECT_EQ(counter->seen, once);
  }
}

TEST_P(PassMemoryTest, WhatDoesNotFitGoesOnceItIsAnswered) {
  const Model& model = small.session.model();
  const Example plain = small.example(), example = remembering(3000);
  const auto all = tap_values(model, example, all_taps());
  EXPECT_LE(example.memory->bytes(), 3000);
  for (const auto& [name, values] : tap_values(model, plain, all_taps())) expect_near(all.at(name), values, name);
  EXPECT_TRUE(example.memory->forget());
  EXPECT_EQ(example.memory->bytes(), 0);
  for (const auto& [name, values] : tap_values(model, plain, all_taps())) expect_near(all.at(name), values, name);
}

TEST_P(PassMemoryTest, ThoseWhoWaitAreAnsweredByOnePass) {
  const Model& model = small.session.model();
  Example example = remembering(0);
  const std::vector<std::string> names = all_taps();
  std::vector<std::thread> others;
  const auto counter = std::make_shared<Counter>([&] {
    for (size_t i = 0; i < 3; ++i)
      others.emplace_back([&, i] { tap_values(model, example, {names[names.size() - 1 - i]}); });
    while (example.memory->asking() < 4) std::this_thread::yield();
  });
  example.changes = counter;
  tap_values(model, example, {names.front()});
  for (std::thread& other : others) other.join();
  Example alone = remembering(0);
  const auto once = std::make_shared<Counter>();
  alone.changes = once;
  tap_values(model, alone, {names.front()});
  for (const auto& [name, times] : once->seen) EXPECT_EQ(counter->seen.at(name), 2 * times) << name;
}

}  // namespace
}  // namespace limpid
