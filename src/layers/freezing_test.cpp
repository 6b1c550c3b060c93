// Some of several projections of one input are frozen: the others learn as if nothing were.

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "layers/linear.h"

namespace limpid {
namespace {

struct Learned {
  std::map<std::string, std::vector<real>> gradients;  // of the weights that have one
  double norm = 0;
};

class PartialFreezing : public testing::TestWithParam<WeightLayout> {
 protected:
  PartialFreezing()
      : linear_(12, {{"q", 16}, {"k", 8}, {"v", 8}},
                {ParameterRole::attention, true, GetParam(), Initial::normal(0.5)}),
        parameters_([this](const WeightVisitor& visitor) { linear_.visit(visitor); }) {
    parameters_.initialize(3);
  }

  // The gradients of Σ y² / 2 where what `frozen` names is frozen.
  Learned learn(const std::vector<std::string>& frozen) {
    const Arena arena;
    Gradients gradients(parameters_);
    gradients.freeze([&](const Weight& w) { return std::find(frozen.begin(), frozen.end(), w.name) != frozen.end(); });
    Tape tape(arena, &gradients);
    limpid::Run run({.arena = arena, .tape = &tape});
    Tensor x(arena, 9, 12);
    Random random(5);
    for (int64_t i = 0; i < 9 * 12; ++i) x.values().data[i] = static_cast<real>(random.normal());
    const Tensor y = linear_.forward(run, x);
    Learned learned;
    if (!y.needs_gradient()) return learned;  // all is frozen
    tape.seed(y, y.values());
    tape.backward();
    learned.norm = gradients.norm();
    for (const Weight& weight : parameters_.weights()) {
      if (gradients.frozen(weight)) continue;
      const ConstMatrix g = gradients.of(weight);
      learned.gradients[weight.name] = {g.data, g.data + g.cols};
    }
    return learned;
  }

  Linear linear_;
  Parameters parameters_;
};

double norm_of(const Learned& learned) {
  double sum = 0;
  for (const auto& [name, numbers] : learned.gradients)
    for (const real x : numbers) sum += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(sum);
}

TEST_P(PartialFreezing, OthersLearnAsBefore) {
  const Learned all = learn({});
  ASSERT_EQ(all.gradients.size(), 6u);
  EXPECT_NEAR(all.norm, norm_of(all), 1e-4 * all.norm);
  const std::vector<std::vector<std::string>> choices = {{"q.weight"},
                                                         {"k.weight"},
                                                         {"v.weight"},
                                                         {"q.weight", "v.weight"},
                                                         {"q.bias"},
                                                         {"k.bias", "k.weight"},
                                                         {"q.weight", "k.weight", "v.weight"}};
  for (const auto& frozen : choices) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(frozen, ", ")));
    const Learned some = learn(frozen);
    EXPECT_EQ(some.gradients.size(), 6 - frozen.size());
    for (const auto& [name, numbers] : some.gradients) {
      EXPECT_GT(norm_of({{{name, numbers}}}), 0) << name;
      for (size_t i = 0; i < numbers.size(); ++i)
        ASSERT_NEAR(numbers[i], all.gradients.at(name)[i], 1e-4) << name << " " << i;
    }
    EXPECT_NEAR(some.norm, norm_of(some), 1e-4 * all.norm);  // what is frozen does not count in the clip norm
    EXPECT_LT(some.norm, all.norm);
  }
  EXPECT_TRUE(learn({"q.weight", "k.weight", "v.weight", "q.bias", "k.bias", "v.bias"}).gradients.empty());
}

INSTANTIATE_TEST_SUITE_P(Layouts, PartialFreezing, testing::Values(WeightLayout::out_in, WeightLayout::in_out),
                         [](const auto& test) { return test.param == WeightLayout::out_in ? "out_in" : "in_out"; });

}  // namespace
}  // namespace limpid
