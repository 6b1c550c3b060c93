// Gradients by taps against differences, for every family; of smooth activations, since a step over the corner of a
// ReLU has no slope to compare with.

#include "inspect/gradient.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/ops.h"
#include "inspect/small_session.h"
#include "inspect/tap_names.h"

namespace limpid {
namespace {

// The objective after a step along a tap's gradient.
double after_step(const SmallSession& small, const Objective& objective, const std::string& name,
                  const TapValues& along, double step) {
  const Example example = small.example();
  FunctionProbe probe;
  Run run({.probe = &probe});
  probe.replace(name, [&](const Tap& tap) {
    Tensor value = constant(run, tap.value.values());
    const std::vector<RowPlace> places = row_places(tap, example.batch);
    for (int64_t head = 0; head < along.heads; ++head)
      for (size_t i = 0; i < places.size(); ++i) {
        const auto query = static_cast<int64_t>(i), rows = static_cast<int64_t>(places.size());
        real* row = along.pairs ? value.values().data + (head * rows + query) * along.cols : value.values().row(query);
        for (int64_t j = 0; j < along.cols; ++j)
          row[j] += static_cast<real>(step) * along.row(places[i].position, head)[j];
      }
    return value;
  });
  return objective_value(objective, example, small.session.model().logits(run, example.batch, example.choice).values());
}

double length(const TapValues& gradient) {
  double square = 0;
  for (real x : gradient.numbers) square += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(square);
}

class TapGradientsOf : public testing::TestWithParam<std::string> {};

// Along the gradient g the objective grows by |g| a unit of length. Two central differences and their extrapolation
// leave an error of the step's fourth power and of float's rounding.
TEST_P(TapGradientsOf, AgreeWithDifferencesAtEveryTap) {
  const SmallSession small(GetParam());
  const std::vector<TapInfo> taps = list_taps(small.session.model());
  for (const Objective& objective :
       {Objective{.kind = Objective::Kind::difference, .position = 2, .token = 4, .against = 7},
        Objective{.kind = Objective::Kind::log_probability, .position = -1, .token = 4},
        Objective{.kind = Objective::Kind::loss}}) {
    for (const TapInfo& tap : taps) {
      const TapGradients all = tap_gradients(small.session.model(), small.example(), objective, {tap.name});
      const TapValues& gradient = all.taps.at(tap.name).gradient;
      const double g = length(gradient);
      if (g < 1e-4) continue;  // nothing to see above rounding; what must matter is tested below
      const double h = 0.02 / g;
      const auto central = [&](double step) {
        return (after_step(small, objective, tap.name, gradient, step) -
                after_step(small, objective, tap.name, gradient, -step)) /
               (2 * step * g);
      };
      const double slope = (4 * central(h / 2) - central(h)) / 3;
      EXPECT_NEAR(slope, g, 4e-3 * g + 2e-4) << tap.name;
    }
  }
}

TEST_P(TapGradientsOf, SeveralTapsAtOnceGiveEachItsOwn) {
  const SmallSession small(GetParam());
  const Objective objective{.kind = Objective::Kind::logit, .position = 2, .token = 4};
  std::vector<std::string> names;
  for (const TapInfo& tap : list_taps(small.session.model())) names.push_back(tap.name);
  std::vector<double> told;
  const TapGradients together = tap_gradients(small.session.model(), small.example(), objective, names,
                                              [&](double done) { told.push_back(done); });
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_GT(told.size(), names.size());
  EXPECT_GT(told.back(), 0.5);
  struct Enough {};
  const auto until_half = [](double done) {
    if (done > 0.5) throw Enough();
  };
  EXPECT_THROW(tap_gradients(small.session.model(), small.example(), objective, names, until_half), Enough);
  ASSERT_EQ(together.names.size(), names.size());
  int64_t reached = 0;
  for (const std::string& name : names) {
    const TapGradients alone = tap_gradients(small.session.model(), small.example(), objective, {name});
    const TapValues &a = together.taps.at(name).gradient, &b = alone.taps.at(name).gradient;
    ASSERT_EQ(a.numbers.size(), b.numbers.size()) << name;
    reached += length(b) > 1e-4;
    for (size_t i = 0; i < a.numbers.size(); ++i)
      EXPECT_NEAR(static_cast<double>(a.numbers[i]), static_cast<double>(b.numbers[i]), 1e-4 + 1e-3 * length(b))
          << name;
  }
  EXPECT_GT(reached, static_cast<int64_t>(names.size()) / 2);
}

INSTANTIATE_TEST_SUITE_P(Families, TapGradientsOf,
                         testing::Values("gpt2", "gpt2_post_norm", "llama", "pegasus", "bert", "gru_attention", "lstm"),
                         config_of_test);

TEST(Gradient, OfALogitByTheLastVectorIsTheUnembedding) {
  const SmallSession small("gpt2");
  const TapGradients all = tap_gradients(small.session.model(), small.example(),
                                         {.kind = Objective::Kind::logit, .position = 1, .token = 9}, {"final_norm"});
  const TapGradient& tap = all.taps.at("final_norm");
  const ConstMatrix table = small.session.model().output().weight().matrix();
  for (int64_t j = 0; j < table.cols; ++j) {
    EXPECT_FLOAT_EQ(static_cast<float>(tap.gradient.row(1)[j]), static_cast<float>(table(9, j)));
    EXPECT_EQ(tap.gradient.row(0)[j], real{0});
  }
  EXPECT_NEAR(tap.at_position(1), all.value, 1e-4);  // linear: gradient × value is the logit itself
}

TEST(Gradient, TheFutureTakesNoPart) {
  const SmallSession small("llama");
  const TapGradients all = tap_gradients(small.session.model(), small.example(),
                                         {.kind = Objective::Kind::logit, .position = 1, .token = 9}, {"embed"});
  const TapGradient& tap = all.taps.at("embed");
  EXPECT_GT(tap.length(0), 0);
  EXPECT_GT(tap.length(1), 0);
  EXPECT_EQ(tap.length(2), 0);
}

}  // namespace
}  // namespace limpid
