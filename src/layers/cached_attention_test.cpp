// Cross-attention with a cache in which some sequences have their keys and values already and others are new: every
// sequence gets what it would get alone, without a cache.

#include <gtest/gtest.h>

#include "autograd/parameters.h"
#include "base/random.h"
#include "layers/attention.h"

namespace limpid {
namespace {

constexpr int64_t kWidth = 16;

class CachedCrossAttention : public testing::Test {
 protected:
  CachedCrossAttention() {
    AttentionOptions options;
    options.width = kWidth;
    options.shape = {.heads = 4, .kv_heads = 2, .head_size = 4};
    options.cross = true;
    options.initial = options.initial_output = Initial::normal(0.5);
    attention_ = Attention({{"q", "k", "v"}, "out"}, options);
    parameters_ = std::make_unique<Parameters>([this](const WeightVisitor& visitor) { attention_.visit(visitor); });
    parameters_->initialize(1);
  }

  static Tensor draw(const Arena& arena, int64_t rows, uint64_t key) {
    Tensor x(arena, rows, kWidth);
    Random random(key);
    for (int64_t i = 0; i < rows * kWidth; ++i) x.values().data[i] = static_cast<real>(random.normal());
    return x;
  }
  // One query looks at one memory.
  std::vector<real> alone(const Tensor& query, const Tensor& memory) const {
    limpid::Run run({});
    const Sequences one({1}), tokens({memory.rows()});
    const Tensor y = attention_.forward(run, query, TokenLayout::of(one), memory, tokens);
    return {y.values().data, y.values().data + kWidth};
  }
  static std::vector<real> row(const Tensor& y, int64_t i) { return {y.values().row(i), y.values().row(i) + y.cols()}; }

  Arena arena_;
  Attention attention_;
  std::unique_ptr<Parameters> parameters_;
};

TEST_F(CachedCrossAttention, NewAndOldSequencesMixed) {
  const Tensor first = draw(arena_, 5, 1), second = draw(arena_, 3, 2), third = draw(arena_, 7, 3);
  KeyValueCache cache(1);
  limpid::Run run({.arena = arena_, .cache = &cache});
  const auto attend = [&](const Tensor& queries, const Tensor& memory, const std::vector<int64_t>& lengths) {
    const Sequences rows(std::vector<int64_t>(static_cast<size_t>(queries.rows()), 1));
    return attention_.forward(run, queries, TokenLayout::of(rows), memory, Sequences(lengths));
  };
  const Tensor q1 = draw(arena_, 1, 10);
  EXPECT_EQ(row(attend(q1, first, {5}), 0), alone(q1, first));

  cache.add(2);  // the second and third come in; of the first nothing more is given
  const Tensor both[] = {second, third};
  const Tensor q3 = draw(arena_, 3, 11);
  const Tensor mixed = attend(q3, concatenate_rows(run, both), {0, 3, 7});
  EXPECT_EQ(row(mixed, 0), alone(q3.slice(0, 1), first));
  EXPECT_EQ(row(mixed, 1), alone(q3.slice(1, 1), second));
  EXPECT_EQ(row(mixed, 2), alone(q3.slice(2, 1), third));

  cache.reorder(std::vector<int32_t>{2, 0, 2});  // all old now, in another order, one of them twice
  const Tensor q4 = draw(arena_, 3, 12);
  const Tensor old = attend(q4, {}, {});
  EXPECT_EQ(row(old, 0), alone(q4.slice(0, 1), third));
  EXPECT_EQ(row(old, 1), alone(q4.slice(1, 1), first));
  EXPECT_EQ(row(old, 2), alone(q4.slice(2, 1), third));

  cache.add(1);  // one that is new behind old ones that are given again: theirs is not read
  const Tensor q5 = draw(arena_, 4, 13), wrong = draw(arena_, 7, 99);
  const Tensor given[] = {wrong, second};
  const Tensor last = attend(q5, concatenate_rows(run, given), {7, 0, 0, 3});
  EXPECT_EQ(row(last, 0), alone(q5.slice(0, 1), third));
  EXPECT_EQ(row(last, 3), alone(q5.slice(3, 1), second));
}

}  // namespace
}  // namespace limpid
