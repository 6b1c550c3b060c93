// How gradients of values share memory without touching one another, and which stretches of a flat buffer are learned.

#include "autograd/tape.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace limpid {
namespace {

class Gradients2x3 : public testing::Test {
 protected:
  Tensor value() {
    Tensor x(arena_, 2, 3);
    x.track_gradient();
    return x;
  }
  void add(const Tensor& x, real number) {
    const std::vector<real> numbers(6, number);
    tape_.seed(x, {numbers.data(), 2, 3});
  }
  real at(const Tensor& x, int64_t i, int64_t j) const { return tape_.grad(x)(i, j); }

  Arena arena_;
  Tape tape_{arena_};
};

TEST_F(Gradients2x3, WhatIsSharedPartsWhenOneIsAddedTo) {
  const Tensor sum = value(), a = value(), b = value();
  add(sum, 5);
  tape_.share_grad(sum, a);
  tape_.share_grad(sum, b);
  EXPECT_EQ(tape_.grad(a).data, tape_.grad(sum).data);  // nothing is copied
  add(a, 1);
  EXPECT_EQ(at(a, 1, 2), 6);
  EXPECT_EQ(at(b, 1, 2), 5);
  EXPECT_EQ(at(sum, 1, 2), 5);
}

TEST_F(Gradients2x3, AShareIsAddedToWhatIsThere) {
  const Tensor sum = value(), a = value();
  add(sum, 5);
  add(a, 1);
  tape_.share_grad(sum, a);
  EXPECT_EQ(at(a, 0, 0), 6);
  EXPECT_EQ(at(sum, 0, 0), 5);
}

TEST_F(Gradients2x3, InPlaceTakesTheBufferOverOnlyWhereNobodyNeedsIt) {
  const Tensor y = value(), x = value();
  add(y, 5);
  const real* const buffer = tape_.grad(y).data;
  const GradientTarget alone = tape_.grad_out_in_place(y, x);
  EXPECT_EQ(alone.view.data, buffer);
  EXPECT_FALSE(alone.accumulate);

  const Tensor z = value(), shared = value(), w = value();
  add(z, 7);
  tape_.share_grad(z, shared);  // somebody else reads z's gradient still
  const GradientTarget own = tape_.grad_out_in_place(z, w);
  EXPECT_NE(own.view.data, tape_.grad(shared).data);
  EXPECT_EQ(at(shared, 0, 0), 7);

  const Tensor u = value(), v = value();
  add(u, 1);
  add(v, 2);
  const GradientTarget added = tape_.grad_out_in_place(u, v);  // numbers stand there that must stay
  EXPECT_TRUE(added.accumulate);
  EXPECT_EQ(added.view(0, 0), 2);
}

TEST_F(Gradients2x3, APartOfAValueLeavesZerosBesideIt) {
  const Tensor x = value();
  const Tensor row = x.slice(1, 1);
  const std::vector<real> numbers(3, 4);
  tape_.seed(row, {numbers.data(), 1, 3});
  EXPECT_EQ(at(x, 0, 0), 0);
  EXPECT_EQ(at(x, 1, 2), 4);
}

// Four weights of 16 numbers each, and statistics behind them.
class Learned : public testing::Test {
 protected:
  Learned() {
    for (const char* name : {"a", "b", "c", "d", "mean"}) weights_.push_back({.name = name, .shape = {16}});
    weights_.back().trainable = false;
    parameters_ = std::make_unique<Parameters>([this](const WeightVisitor& visitor) {
      for (Weight& weight : weights_) visitor(weight);
    });
  }
  // (begin, count, property) of each stretch.
  std::vector<std::vector<int64_t>> stretches(const std::string& frozen, const std::string& with_property) {
    Gradients gradients(*parameters_);
    gradients.freeze([&](const Weight& w) { return frozen.find(w.name) != std::string::npos; });
    std::vector<std::vector<int64_t>> result;
    for (const auto& [begin, count, property] :
         gradients.learned([&](const Weight& w) { return with_property.find(w.name) != std::string::npos; }))
      result.push_back({begin, count, property ? 1 : 0});
    return result;
  }

  std::vector<Weight> weights_;
  std::unique_ptr<Parameters> parameters_;
};

TEST_F(Learned, IsOneStretchWhereNothingIsFrozen) {
  using Stretches = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(stretches("", ""), (Stretches{{0, 64, 0}}));
  EXPECT_EQ(stretches("", "abcd"), (Stretches{{0, 64, 1}}));
  EXPECT_EQ(stretches("", "bc"), (Stretches{{0, 16, 0}, {16, 32, 1}, {48, 16, 0}}));
  EXPECT_EQ(stretches("b", ""), (Stretches{{0, 16, 0}, {32, 32, 0}}));
  EXPECT_EQ(stretches("ad", "b"), (Stretches{{16, 16, 1}, {32, 16, 0}}));
  EXPECT_EQ(stretches("abcd", ""), Stretches{});
}

TEST_F(Learned, GradientsNobodyWroteAreZeroInTheNormAndAnErrorElsewhere) {
  Gradients gradients(*parameters_);
  std::fill_n(gradients.data(), gradients.size(), real{9});  // of a step before
  gradients.clear();
  EXPECT_THROW(gradients.of(weights_[1]), Error);
  gradients.open_to_add(weights_[0])[3] = 3;
  gradients.open_to_add(weights_[2])[0] = 4;
  EXPECT_DOUBLE_EQ(gradients.norm(), 5);
}

}  // namespace
}  // namespace limpid
