// Taps: every value can be read and replaced, and what a replaced value does to gradients is as Probe promises.

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "models/small_models.h"

namespace limpid {
namespace {

std::set<std::string> tap_names(const SmallModel& small) {
  std::set<std::string> names;
  FunctionProbe probe;
  probe.on("*", [&](const Tap& tap) { names.insert(tap.name); });
  limpid::Run run({.probe = &probe});
  small.model->logits(run, small.batch);
  return names;
}

double loss_of(const SmallModel& small, Run& run) { return small.model->loss(run, small.batch, {}).sum(); }

class Taps : public testing::TestWithParam<std::string> {};

TEST_P(Taps, EveryValueCanBeReplacedInTrainingAndInference) {
  const SmallModel small = small_model(small_configs().at(GetParam()));
  limpid::Run plain({});
  const double before = loss_of(small, plain);
  for (const std::string& name : tap_names(small)) {
    FunctionProbe probe;
    limpid::Run* current = nullptr;
    probe.replace(name, [&](const Tap& tap) {  // other numbers, different for every row and column, -∞ kept
      Tensor other = constant(*current, tap.value.values());
      const Matrix v = other.values();
      for (int64_t i = 0; i < v.rows; ++i)
        for (int64_t j = 0; j < v.cols; ++j)
          v(i, j) = v(i, j) * real(0.5) + real(0.01) * static_cast<real>((3 * i + j) % 5);
      return other;
    });
    limpid::Run inference({.probe = &probe});
    current = &inference;
    EXPECT_NE(loss_of(small, inference), before) << name;
    Gradients gradients(*small.parameters);
    Tape tape(inference.arena(), &gradients);
    limpid::Run training({.arena = inference.arena(), .tape = &tape, .probe = &probe, .train = true});
    current = &training;
    loss_of(small, training);
    tape.backward();
    gradients.finish();
    for (int64_t i = 0; i < gradients.size(); ++i) ASSERT_FALSE(std::isnan(gradients.data()[i])) << name;
  }
}

TEST_P(Taps, EveryNameStandsInTheDocument) {
  std::ifstream file(std::string(LIMPID_SOURCE_DIR) + "/docs/taps.md");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(text.empty());
  for (std::string name : tap_names(small_model(small_configs().at(GetParam())))) {
    // decoder.3.self_attn.q is documented as `self_attn.q`
    for (const char* stack : {"encoder.", "decoder.", "blocks."})
      if (name.starts_with(stack)) name = name.substr(std::string(stack).size());
    while (!name.empty() && (std::isdigit(static_cast<unsigned char>(name[0])) || name[0] == '.'))
      name = name.substr(1);
    if (name.starts_with("reverse.")) name = name.substr(8);
    EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Taps, testing::ValuesIn(small_config_names()), config_of_test);

// Gradients of a step in which the first block's output is replaced.
std::vector<real> gradients_with(const SmallModel& small,
                                 const std::function<Tensor(limpid::Run&, const Tap&)>& replacement) {
  Gradients gradients(*small.parameters);
  const Arena arena;
  Tape tape(arena, &gradients);
  FunctionProbe probe;
  limpid::Run run({.arena = arena, .tape = &tape, .probe = &probe});
  probe.replace("blocks.0.resid_post", [&](const Tap& tap) { return replacement(run, tap); });
  small.model->loss(run, small.batch, {});
  tape.backward();
  gradients.finish();
  return {gradients.data(), gradients.data() + gradients.size()};
}

TEST(TapGradient, NumbersPutInByHandStopIt) {
  const SmallModel small = small_model(small_configs().at("llama"));
  const auto stopped =
      gradients_with(small, [](limpid::Run& run, const Tap& tap) { return constant(run, tap.value.values()); });
  for (const Weight& weight : small.parameters->weights()) {
    double sum = 0;
    for (int64_t i = 0; i < weight.size(); ++i) sum += std::abs(static_cast<double>(stopped[weight.offset + i]));
    const bool below =
        weight.name.find("layers.0") != std::string::npos || weight.name.find("embed_tokens") != std::string::npos;
    EXPECT_EQ(sum == 0, below) << weight.name;
  }
}

TEST(TapGradient, OperationsOfTheRunPassItOn) {
  const SmallModel small = small_model(small_configs().at("llama"));
  const auto same = gradients_with(small, [](limpid::Run&, const Tap& tap) { return tap.value; });
  const auto through = gradients_with(small, [](limpid::Run& run, const Tap& tap) { return scale(run, tap.value, 1); });
  EXPECT_EQ(through, same);
}

TEST(TapGradient, TheGradientOfATappedValueCanBeRead) {
  const SmallModel small = small_model(small_configs().at("gpt2"));
  const Arena arena;
  Tape tape(arena);  // no gradients of weights
  FunctionProbe probe;
  Tensor kept;
  limpid::Run run({.arena = arena, .tape = &tape, .probe = &probe});
  probe.replace("blocks.0.resid_pre", [&](const Tap& tap) {  // a leaf of our own
    kept = constant(run, tap.value.values());
    kept.track_gradient();
    return kept;
  });
  small.model->loss(run, small.batch, {});
  tape.backward();
  const ConstMatrix gradient = tape.grad(kept);
  ASSERT_EQ(gradient.rows, kept.rows());
  double sum = 0;
  for (int64_t i = 0; i < gradient.size(); ++i) sum += std::abs(static_cast<double>(gradient.data[i]));
  EXPECT_GT(sum, 0);
}

TEST(TapGradient, AReplacementOfAnotherShapeIsAnError) {
  const SmallModel small = small_model(small_configs().at("gpt2"));
  FunctionProbe probe;
  limpid::Run run({.probe = &probe});
  probe.replace("blocks.1.ffn.post", [](const Tap& tap) { return tap.value.columns(0, 3); });
  EXPECT_THROW(small.model->logits(run, small.batch), Error);
}

}  // namespace
}  // namespace limpid
