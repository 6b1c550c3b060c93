#include "inspect/tap_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspect/session.h"
#include "models/small_models.h"

namespace limpid {
namespace {

using testing::HasSubstr;

Config config_of(const char* name) { return parse_config(small_configs().at(name)); }

TEST(TapNames, NamesOfTransformerLensBecomeOurs) {
  const Config gpt2 = config_of("gpt2"), llama = config_of("llama"), marian = config_of("marian");
  EXPECT_EQ(our_tap_name("hook_embed", gpt2), "embed");
  EXPECT_EQ(our_tap_name("hook_pos_embed", gpt2), "pos_embed");
  EXPECT_EQ(our_tap_name("blocks.3.attn.hook_pattern", gpt2), "blocks.3.attn.pattern");
  EXPECT_EQ(our_tap_name("blocks.*.attn.hook_attn_scores", gpt2), "blocks.*.attn.masked");
  EXPECT_EQ(our_tap_name("blocks.0.hook_resid_pre", gpt2), "blocks.0.resid_pre");
  EXPECT_EQ(hook_name("blocks.1.resid_post", gpt2), "blocks.1.hook_resid_post");
  EXPECT_EQ(hook_name("blocks.1.resid_post", config_of("bert")), "blocks.1.hook_normalized_resid_post");
  EXPECT_EQ(our_tap_name("blocks.0.hook_mlp_out", gpt2), "blocks.0.ffn_out");
  EXPECT_EQ(our_tap_name("ln_final.hook_normalized", gpt2), "final_norm");
  EXPECT_EQ(our_tap_name("blocks.1.ln2.hook_scale", gpt2), "blocks.1.norm2.scale");
  EXPECT_EQ(our_tap_name("blocks.0.mlp.hook_pre", gpt2), "blocks.0.ffn.pre");
  EXPECT_EQ(our_tap_name("blocks.0.mlp.hook_pre", llama), "blocks.0.ffn.gate");
  EXPECT_EQ(our_tap_name("blocks.0.mlp.hook_pre_linear", llama), "blocks.0.ffn.pre");
  EXPECT_EQ(our_tap_name("decoder.0.attn.hook_q", marian), "decoder.0.self_attn.q");
  EXPECT_EQ(our_tap_name("decoder.0.cross_attn.hook_pattern", marian), "decoder.0.cross_attn.pattern");
  EXPECT_EQ(our_tap_name("decoder.1.ln2.hook_normalized", marian), "decoder.1.norm_cross");
  EXPECT_EQ(our_tap_name("encoder.1.ln2.hook_normalized", marian), "encoder.1.norm2");
  EXPECT_EQ(our_tap_name("decoder.1.ln3.hook_normalized", marian), "decoder.1.norm2");
  EXPECT_EQ(our_tap_name("hook_embed", marian), "*.embed");
  EXPECT_EQ(our_tap_name("decoder.*.ffn.post", marian), "decoder.*.ffn.post");
  EXPECT_THROW(our_tap_name("blocks.0.hook_nothing", gpt2), Error);
}

class TapList : public testing::TestWithParam<std::string> {};

// Axes are found from one small pass; they must hold for other lengths.
TEST_P(TapList, SaysWhatEveryTapHas) {
  const SmallModel small = small_model(small_configs().at(GetParam()));
  const std::vector<TapInfo> taps = list_taps(*small.model);
  const Example example = example_of(small.model->config(), {3, 7, 5, 11, 2}, {4, 9, 2, 17, 6, 1, 8});
  std::map<std::string, int64_t> numbers;
  FunctionProbe probe;
  probe.on("*", [&](const Tap& tap) { numbers[tap.name] += tap.value.rows() * tap.value.cols(); });
  forward_logits(*small.model, example, &probe);
  ASSERT_EQ(taps.size(), numbers.size());
  for (const TapInfo& tap : taps) {
    const int64_t rows = tap.row_count(5, 7);
    EXPECT_EQ(tap.keys ? tap.heads * rows * tap.key_count(5, 7) : rows * tap.cols, numbers.at(tap.name)) << tap.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TapList, testing::ValuesIn(small_config_names()), config_of_test);

TEST(TapNames, AMisspeltNameIsAnErrorThatNamesTheNearest) {
  const SmallModel small = small_model(small_configs().at("gpt2"));
  try {
    find_taps(list_taps(*small.model), "blocks.0.resid_psot", small.model->config());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("blocks.0.resid_post"));
  }
}

}  // namespace
}  // namespace limpid
