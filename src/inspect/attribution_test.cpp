// Every logit is the sum of its parts, and the last logit lens is the logits, for every family and variant.

#include "inspect/attribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "inspect/lens.h"
#include "models/small_models.h"

namespace limpid {
namespace {

Example small_example(const Config& config) { return example_of(config, {3, 7, 5, 11}, {4, 9, 2, 17, 6}); }

class Look : public testing::TestWithParam<std::string> {};

TEST_P(Look, PartsAddUpToTheLogit) {
  const SmallModel small = small_model(small_configs().at(GetParam()));
  const Example example = small_example(small.model->config());
  const bool classifies = !small.model->config().labels.empty();
  for (const bool neurons : {false, true})
    for (int64_t position = 0; position < (classifies ? 1 : example.positions()); position += 2)
      for (int32_t token = 0; token < (classifies ? 3 : 23); token += 9) {
        const Attribution all =
            attribute_logit(*small.model, example, {.position = position, .token = token, .neurons = neurons});
        ASSERT_NEAR(all.sum, all.logit, 1e-4) << "position " << position << " token " << token;
        ASSERT_GT(std::abs(all.logit), 1e-6);
      }
}

TEST_P(Look, TheDifferenceOfTwoLogitsAddsUpToo) {
  const SmallModel small = small_model(small_configs().at(GetParam()));
  const Example example = small_example(small.model->config());
  const Attribution a = attribute_logit(*small.model, example, {.position = 0, .token = 0});
  const Attribution b = attribute_logit(*small.model, example, {.position = 0, .token = 2});
  const Attribution both = attribute_logit(*small.model, example, {.position = 0, .token = 0, .against = 2});
  EXPECT_NEAR(both.logit, a.logit - b.logit, 1e-5);
  ASSERT_EQ(both.parts.size(), a.parts.size());
  for (size_t i = 0; i < a.parts.size(); ++i)
    EXPECT_NEAR(both.parts[i].value, a.parts[i].value - b.parts[i].value, 1e-5) << a.parts[i].name;
}

TEST_P(Look, TheLastLensIsTheLogits) {
  const SmallModel small = small_model(small_configs().at(GetParam()));
  const Example example = small_example(small.model->config());
  const Tensor logits = forward_logits(*small.model, example, nullptr);
  const Tensor lens = lens_logits(*small.model, example, lens_layers(small.model->config()).back());
  for (int64_t i = 0; i < logits.rows(); ++i)
    for (int64_t j = 0; j < logits.cols(); ++j)
      ASSERT_NEAR(static_cast<double>(lens.values()(i, j)), static_cast<double>(logits.values()(i, j)), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, Look, testing::ValuesIn(small_config_names()), config_of_test);

TEST(Attribution, EveryHeadAndPartIsNamedOnce) {
  const SmallModel small = small_model(small_configs().at("marian"));
  const Attribution all =
      attribute_logit(*small.model, small_example(small.model->config()), {.token = 3, .neurons = true});
  std::set<std::string> names;
  for (const LogitPart& part : all.parts) EXPECT_TRUE(names.insert(part.name).second) << part.name;
  for (const char* name :
       {"decoder.embed", "decoder.pos_embed", "decoder.0.self_attn.head0", "decoder.1.cross_attn.head2",
        "decoder.1.ffn.neuron19", "decoder.0.ffn.bias", "decoder.1.norm2.bias", "output.bias"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Attribution, AHeadSwitchedOffChangesTheLogitByItsPartWhereItsBlockIsTheLast) {
  // No norm lies behind the last block of this model, so the part is the whole effect.
  auto json = small_configs().at("gpt2");
  json["limpid"] = {{"feed_forward", false}, {"final_norm", false}};
  const SmallModel small = small_model(json);
  const Example example = small_example(small.model->config());
  const Attribution all = attribute_logit(*small.model, example, {.token = 5});
  FunctionProbe probe;
  limpid::Run run({.probe = &probe});
  probe.replace("blocks.1.attn.z", [&](const Tap& tap) {
    Tensor other = constant(run, tap.value.values());
    for (int64_t i = 0; i < other.rows(); ++i) std::fill_n(other.values().row(i) + 4, 4, real{0});  // head 1
    return other;
  });
  const double without = static_cast<double>(small.model->logits(run, example.batch, example.choice).values()(4, 5));
  const auto part = std::find_if(all.parts.begin(), all.parts.end(),
                                 [](const LogitPart& p) { return p.name == "blocks.1.attn.head1"; });
  ASSERT_NE(part, all.parts.end());
  EXPECT_NEAR(all.logit - without, part->value, 1e-5);
}

TEST(Lens, RanksAndProbabilitiesBelongToTheWatchedToken) {
  const SmallModel small = small_model(small_configs().at("llama"));
  const Example example = small_example(small.model->config());
  const LensTable table = logit_lens(*small.model, example, {.top = 23, .watched = 7});
  EXPECT_EQ(table.layers.size(), 3u);
  for (const LensCell& cell : table.cells) {
    ASSERT_EQ(cell.top.size(), 23u);
    EXPECT_EQ(cell.top[cell.rank - 1].id, 7);
    EXPECT_DOUBLE_EQ(cell.top[cell.rank - 1].probability, cell.probability);
    double sum = 0;
    for (const LensToken& token : cell.top) sum += token.probability;
    EXPECT_NEAR(sum, 1, 0x1p-22);  // the logarithm of the softmax's sum is a float
  }
}

TEST(Attribution, APositionThatIsNotThereIsAnError) {
  const SmallModel small = small_model(small_configs().at("gpt2"));
  const Example example = small_example(small.model->config());
  EXPECT_THROW(attribute_logit(*small.model, example, {.position = 5}), Error);
  EXPECT_THROW(attribute_logit(*small.model, example, {.position = -6}), Error);
  EXPECT_THROW(attribute_logit(*small.model, example, {.token = 23}), Error);
}

}  // namespace
}  // namespace limpid
