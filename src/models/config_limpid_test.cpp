// The object "limpid" of a config.json.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/config_examples.h"

namespace limpid {
namespace {

using examples::error_of;
using examples::parsed;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(ConfigLimpid, EveryKeyIsRead) {
  const Config config = parsed("gpt2", R"({"limpid": {"norm": "rms", "norm_place": "after", "positions": "sinusoidal",
      "sinusoids": "interleaved", "activation": "none", "gated": true, "residual": false,
      "scale_embedding": true, "scale_scores": false, "causal": false, "bias": false, "final_norm": true,
      "dropout": {"embedding": 0.1, "attention": 0.2, "activation": 0.3, "residual": 0.4}}})");
  EXPECT_EQ(config.norm, NormKind::rms);
  EXPECT_EQ(config.norm_place, NormPlace::after);
  EXPECT_EQ(config.positions, PositionKind::sinusoidal);
  EXPECT_EQ(config.sinusoids, SinusoidLayout::interleaved);
  EXPECT_EQ(config.activation, Activation::none);
  EXPECT_TRUE(config.gated && config.final_norm && config.feed_forward && config.scale_embedding);
  EXPECT_FALSE(config.residual || config.scale_scores || config.causal);
  EXPECT_FALSE(config.norm_bias || config.attention_bias || config.ffn_bias || config.output_bias);
  EXPECT_EQ(config.dropout.embedding, 0.1);
  EXPECT_EQ(config.dropout.attention, 0.2);
  EXPECT_EQ(config.dropout.activation, 0.3);
  EXPECT_EQ(config.dropout.residual, 0.4);
  EXPECT_TRUE(config.only_limpid);
  EXPECT_THAT(config.notes, IsEmpty());
  EXPECT_FALSE(parsed("gpt2", R"({"limpid": {"feed_forward": false}})").feed_forward);
}

TEST(ConfigLimpid, OnlyWhatDiffersFromTheFamilyIsOurs) {
  for (const char* same :
       {R"({})", R"({"norm": "layer"})", R"({"norm_place": "before"})", R"({"positions": "learned"})",
        R"({"activation": "gelu_new"})", R"({"gated": false})", R"({"feed_forward": true})", R"({"residual": true})",
        R"({"scale_scores": true})", R"({"causal": true})", R"({"bias": true})", R"({"final_norm": true})",
        R"({"dropout": {"residual": 0.5}})"})
    EXPECT_FALSE(parsed("gpt2", fmt::format(R"({{"limpid": {}}})", same).c_str()).only_limpid) << same;
  for (const char* other :
       {R"({"norm": "batch"})", R"({"norm_place": "after"})", R"({"positions": "none"})", R"({"activation": "relu"})",
        R"({"gated": true})", R"({"feed_forward": false})", R"({"residual": false})", R"({"scale_scores": false})",
        R"({"causal": false})", R"({"bias": false})", R"({"final_norm": false})", R"({"scale_embedding": true})"})
    EXPECT_TRUE(parsed("gpt2", fmt::format(R"({{"limpid": {}}})", other).c_str()).only_limpid) << other;
  EXPECT_FALSE(parsed("gpt2", R"({"scale_attn_weights": false, "limpid": {"scale_scores": false}})").only_limpid);
  EXPECT_TRUE(parsed("marian", R"({"limpid": {"sinusoids": "interleaved"}})").only_limpid);
  EXPECT_FALSE(parsed("marian", R"({"limpid": {"sinusoids": "halves"}})").only_limpid);
}

TEST(ConfigLimpid, WhatFollowsFromAChoice) {
  EXPECT_FALSE(parsed("gpt2", R"({"limpid": {"norm_place": "after"}})").final_norm);
  EXPECT_TRUE(parsed("bert", R"({"limpid": {"norm_place": "before"}})").final_norm);
  EXPECT_FALSE(parsed("gpt2", R"({"limpid": {"norm": "rms"}})").norm_bias);
  EXPECT_TRUE(parsed("llama", R"({"limpid": {"norm": "layer"}})").norm_bias);
  EXPECT_FALSE(parsed("llama", R"({"limpid": {"norm": "layer", "bias": false}})").norm_bias);
  const Config biased = parsed("llama", R"({"limpid": {"bias": true}})");
  EXPECT_TRUE(biased.attention_bias && biased.ffn_bias && !biased.norm_bias && !biased.output_bias);
  EXPECT_FALSE(parsed("marian", R"({"limpid": {"bias": false}})").output_bias);
  const Config turned = parsed("gpt2", R"({"limpid": {"positions": "rotary"}, "rope_theta": 500})");
  EXPECT_EQ(turned.rope.theta, 500);
}

TEST(ConfigLimpid, MisspeltKeysAreRefused) {
  EXPECT_THAT(error_of("gpt2", R"({"limpid": {"norm_palce": "after"}})"),
              AllOf(StartsWith("[config] limpid.norm_palce is not known: allowed are dropout, norm, "),
                    HasSubstr("did you mean norm_place?")));
  EXPECT_THAT(error_of("gpt2", R"({"limpid": {"dropout": {"residul": 0.1}}})"),
              AllOf(StartsWith("[config] limpid.dropout.residul is not known"), HasSubstr("did you mean residual?")));
  EXPECT_THAT(error_of("gpt2", R"({"limpid": {"colour": 1}})"),
              AllOf(HasSubstr("causal"), Not(HasSubstr("did you mean"))));
}

TEST(ConfigLimpid, WrongValuesAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"norm": "group"})", "limpid.norm is \"group\": allowed is \"layer\", \"rms\", \"batch\""},
      {R"({"norm_place": true})", "limpid.norm_place is true: allowed is \"before\", \"after\""},
      {R"({"positions": "alibi"})", "limpid.positions is \"alibi\": allowed is \"none\", "},
      {R"({"positions": "sinusoidal", "sinusoids": "pairs"})",
       "limpid.sinusoids is \"pairs\": allowed is \"halves\", "},
      {R"({"sinusoids": "halves"})", "limpid.sinusoids needs positions"},
      {R"({"activation": "swoosh"})", "limpid.activation is \"swoosh\": allowed is \"relu\", "},
      {R"({"gated": "yes"})", "limpid.gated is \"yes\": allowed is true or false"},
      {R"({"feed_forward": false, "gated": true})", "limpid.gated needs a feed-forward network"},
      {R"({"norm": "batch", "bias": false})", "limpid.bias is false where norm is \"batch\""},
      {R"({"dropout": 0.1})", "limpid.dropout is 0.1: allowed is a JSON object"},
      {R"({"dropout": {"residual": 1}})", "limpid.dropout.residual is 1"},
      {R"(true)", "limpid is true: allowed is a JSON object"},
  };
  for (const auto& [object, message] : cases)
    EXPECT_THAT(error_of("gpt2", fmt::format(R"({{"limpid": {}}})", object).c_str()),
                StartsWith(std::string("[config] ") + message))
        << object;
  EXPECT_THAT(error_of("gpt2", R"({"n_embd": 6, "limpid": {"positions": "rotary"}})"),
              HasSubstr("a head has 3 numbers"));
  EXPECT_THAT(error_of("gpt2", R"({"n_embd": 15, "n_head": 3, "limpid": {"positions": "sinusoidal"}})"),
              HasSubstr("n_embd is 15"));
  EXPECT_THAT(error_of("bert", R"({"limpid": {"causal": true}})"), HasSubstr("limpid.causal is true"));
  EXPECT_THAT(error_of("rnn_seq2seq", R"({"limpid": {"norm": "layer"}})"), HasSubstr("limpid.norm is not known"));
}

TEST(ConfigLimpid, RecurrentModelsTakeDropout) {
  EXPECT_EQ(parsed("rnn_seq2seq", R"({"limpid": {"dropout": {"embedding": 0.25}}})").dropout.embedding, 0.25);
}

}  // namespace
}  // namespace limpid
