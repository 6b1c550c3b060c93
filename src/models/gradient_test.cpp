// Every family and variant, end to end, against central differences; and a sign error planted at every tap is found.
// In the f64 build only: float has not the digits.

#include <gtest/gtest.h>

#include <set>

#include "autograd/gradient_check.h"
#include "models/small_models.h"

namespace limpid {
namespace {

#ifdef LIMPID_F64

constexpr double kTolerance = 1e-6;

class ModelGradient : public testing::TestWithParam<std::string> {};
class PlantedSign : public testing::TestWithParam<std::string> {};

ScalarFunction loss_of(const SmallModel& small) {
  return [&](limpid::Run& run) { return small.model->loss(run, small.batch, {.smoothing = 0.1}).mean(); };
}

TEST_P(ModelGradient, AgreesWithDifferences) {
  SmallModel small = small_model(small_configs().at(GetParam()));
  const bool batch_norm = small.model->config().norm == NormKind::batch;
  for (bool train : {false, true}) {
    if (batch_norm && !train)
      continue;  // by statistics that never met data the values run away, and differences with them
    const auto result = check_gradients(*small.parameters, loss_of(small),
                                        {.numbers_per_weight = 8, .run = {.train = train, .seed = 7}});
    EXPECT_LT(result.error, kTolerance) << result.where << (train ? ", training" : "");
  }
}

TEST_P(ModelGradient,
       AgreesWithDifferencesWhileEverythingIsWatched) {  // the kernels that keep scores, patterns, scales, logits
  SmallModel small = small_model(small_configs().at(GetParam()));
  FunctionProbe probe;
  probe.on("*", [](const Tap&) {});
  const auto result = check_gradients(*small.parameters, loss_of(small),
                                      {.numbers_per_weight = 4, .run = {.probe = &probe, .train = true, .seed = 7}});
  EXPECT_LT(result.error, kTolerance) << result.where;
}

// Passes a value on unchanged and its gradient with the wrong sign.
Tensor with_wrong_sign(limpid::Run& run, const Tensor& x) {
  Tensor y = constant(run, x.values());
  if (!run.tape() || !x.needs_gradient()) return y;
  y.track_gradient();
  run.tape()->record([x = x.gradient_only(), y = y.gradient_only()](Tape& tape) {
    const ConstMatrix dy = tape.grad(y);
    if (dy.rows == 0) return;
    const Matrix dx = tape.grad_out_to_add(x);
    for (int64_t i = 0; i < dy.rows; ++i)
      for (int64_t j = 0; j < dy.cols; ++j) dx(i, j) -= dy(i, j);
  });
  return y;
}

TEST_P(PlantedSign, IsFoundAtEveryTap) {
  SmallModel small = small_model(small_configs().at(GetParam()));
  std::set<std::string> names;
  FunctionProbe all;
  all.on("*", [&](const Tap& tap) { names.insert(tap.name); });
  limpid::Run look({.probe = &all});
  small.model->loss(look, small.batch, {});
  for (const std::string& name : names) {
    // Sinusoids are not learned.
    if (name.ends_with("pos_embed") && small.model->config().positions == PositionKind::sinusoidal) continue;
    limpid::Run* current = nullptr;
    FunctionProbe probe;
    probe.replace(name, [&](const Tap& tap) { return with_wrong_sign(*current, tap.value); });
    const auto result = check_gradients(*small.parameters,
                                        [&](limpid::Run& run) {
                                          current = &run;
                                          return small.model->loss(run, small.batch, {}).mean();
                                        },
                                        {.numbers_per_weight = 12, .run = {.probe = &probe}});
    EXPECT_GT(result.error, 1e-4) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelGradient, testing::ValuesIn(small_config_names()), config_of_test);

INSTANTIATE_TEST_SUITE_P(Families, PlantedSign,
                         testing::Values("marian", "gpt2", "llama", "bert", "bert_labels", "gru_every_step",
                                         "lstm_attention"),
                         config_of_test);

#endif  // LIMPID_F64

}  // namespace
}  // namespace limpid
