#include "models/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "models/config_examples.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using examples::error_of;
using examples::Json;
using examples::least;
using examples::parsed;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

void expect_stack(const StackConfig& stack, const StackConfig& expected) {
  EXPECT_EQ(stack.layers, expected.layers);
  EXPECT_EQ(stack.heads, expected.heads);
  EXPECT_EQ(stack.kv_heads, expected.kv_heads);
  EXPECT_EQ(stack.ffn, expected.ffn);
}

void expect_dropout(const DropoutConfig& dropout, const DropoutConfig& expected) {
  EXPECT_EQ(dropout.embedding, expected.embedding);
  EXPECT_EQ(dropout.attention, expected.attention);
  EXPECT_EQ(dropout.activation, expected.activation);
  EXPECT_EQ(dropout.residual, expected.residual);
}

TEST(Config, Gpt2HasHuggingFacesDefaults) {
  const Config config = parsed("gpt2");
  EXPECT_EQ(config.family, Family::language_model);
  EXPECT_EQ(config.model_type, "gpt2");
  EXPECT_EQ(config.vocab, 61);
  EXPECT_EQ(config.width, 16);
  EXPECT_EQ(config.head_size, 8);
  EXPECT_EQ(config.max_positions, 32);
  expect_stack(config.stack(), {.layers = 2, .heads = 2, .kv_heads = 2, .ffn = 64});
  EXPECT_EQ(config.norm, NormKind::layer);
  EXPECT_EQ(config.norm_place, NormPlace::before);
  EXPECT_EQ(config.norm_eps, static_cast<real>(1e-5));
  EXPECT_TRUE(config.norm_bias && config.final_norm && config.attention_bias && config.ffn_bias);
  EXPECT_FALSE(config.embedding_norm || config.output_bias || config.gated || config.scale_embedding);
  EXPECT_EQ(config.positions, PositionKind::learned);
  EXPECT_EQ(config.activation, Activation::gelu_tanh);
  EXPECT_TRUE(config.feed_forward && config.residual && config.scale_scores && config.causal && config.tie_output);
  EXPECT_EQ(config.layout, WeightLayout::in_out);
  expect_dropout(config.dropout, {.embedding = 0.1, .attention = 0.1, .activation = 0, .residual = 0.1});
  EXPECT_EQ(config.initializer_range, 0.02);
  EXPECT_EQ(config.eos_token, std::nullopt);  // 50256 is not in this vocabulary
  EXPECT_THAT(config.notes, IsEmpty());
  EXPECT_FALSE(config.only_limpid);
  EXPECT_EQ(config.json, least("gpt2"));
}

TEST(Config, LlamaHasHuggingFacesDefaults) {
  const Config config = parsed("llama");
  EXPECT_EQ(config.family, Family::language_model);
  EXPECT_EQ(config.head_size, 8);
  EXPECT_EQ(config.max_positions, 2048);
  expect_stack(config.stack(), {.layers = 2, .heads = 4, .kv_heads = 4, .ffn = 80});
  EXPECT_EQ(config.norm, NormKind::rms);
  EXPECT_EQ(config.norm_place, NormPlace::before);
  EXPECT_EQ(config.norm_eps, static_cast<real>(1e-6));
  EXPECT_EQ(config.positions, PositionKind::rotary);
  EXPECT_EQ(config.rope.theta, 10000);
  EXPECT_EQ(config.activation, Activation::silu);
  EXPECT_TRUE(config.gated && config.final_norm && config.causal);
  EXPECT_FALSE(config.norm_bias || config.attention_bias || config.ffn_bias || config.output_bias || config.tie_output);
  EXPECT_EQ(config.layout, WeightLayout::out_in);
  expect_dropout(config.dropout, {});
  EXPECT_EQ(config.bos_token, 1);
  EXPECT_EQ(config.eos_token, 2);
  EXPECT_EQ(config.pad_token, std::nullopt);
}

// The least that the family takes, with some keys set.
Config llama_like(const char* model_type, const char* keys) {
  examples::Json json = examples::with("llama", keys);
  json["model_type"] = model_type;
  json["num_attention_heads"] = 32;
  json["hidden_size"] = 64;
  return parse_config(json);
}

TEST(Config, KeysOfHuggingFaceThatAreAbsentDifferFromNull) {
  const Config mistral = llama_like("mistral", "{}");
  EXPECT_EQ(mistral.decoder.kv_heads, 8);
  EXPECT_EQ(mistral.layer(0).window, 4096);
  const Config full = llama_like("mistral", R"({"num_key_value_heads": null, "sliding_window": null})");
  EXPECT_EQ(full.decoder.kv_heads, 32);
  EXPECT_EQ(full.layer(0).window, 0);
  const Config mixtral = llama_like("mixtral", "{}");
  EXPECT_EQ(mixtral.norm_eps, static_cast<real>(1e-5));
  EXPECT_EQ(mixtral.rope.theta, 1e6);
  EXPECT_EQ(mixtral.layer(0).window, 0);
  EXPECT_EQ(llama_like("gemma", "{}").decoder.kv_heads, 16);
  EXPECT_EQ(llama_like("gemma2", "{}").decoder.kv_heads, 4);
  EXPECT_EQ(llama_like("gemma3_text", "{}").decoder.kv_heads, 4);
  EXPECT_EQ(llama_like("starcoder2", "{}").decoder.kv_heads, 2);
  EXPECT_EQ(llama_like("qwen3", "{}").decoder.kv_heads, 32);
  EXPECT_EQ(llama_like("phi3", "{}").decoder.kv_heads, 32);  // as many as queries
}

TEST(Config, MixturesOfQwenHaveTheKeysOfEveryRelease) {
  const char* moe = R"({"moe_intermediate_size": 24, "shared_expert_intermediate_size": 40})";
  const auto qwen = [&](const char* type, const char* keys) {
    Json json = examples::with("llama", moe);
    json.update(Json::parse(keys));
    json.update({{"model_type", type}, {"num_attention_heads", 16}, {"num_hidden_layers", 4}});
    return parse_config(json);
  };
  EXPECT_EQ(qwen("qwen3_moe", "{}").experts.count, 128);
  EXPECT_EQ(qwen("qwen3_moe", R"({"num_experts": 6, "num_experts_per_tok": 2})").experts.count, 6);
  EXPECT_EQ(qwen("qwen3_moe", R"({"num_local_experts": 6, "num_experts_per_tok": 2})").experts.count, 6);
  EXPECT_TRUE(qwen("qwen2_moe", "{}").attention_bias);
  EXPECT_FALSE(qwen("qwen2_moe", R"({"qkv_bias": false})").attention_bias);
  const char* windows = R"({"use_sliding_window": true, "sliding_window": 5, "max_window_layers": 2})";
  const auto windows_of = [](const Config& config) {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < 4; ++i) all.push_back(config.layer(i).window);
    return all;
  };
  EXPECT_THAT(windows_of(qwen("qwen3_moe", windows)), ElementsAre(5, 5, 5, 5));
  EXPECT_THAT(windows_of(qwen("qwen2_moe", windows)), ElementsAre(5, 0, 0, 0));
  for (const char* type : {"qwen2_moe", "qwen3_moe"})
    EXPECT_THAT(windows_of(qwen(type, R"({"use_sliding_window": false, "sliding_window": 0})")),
                ElementsAre(0, 0, 0, 0));
}

TEST(Config, WindowsOfQwenMayBeNoneOrOfEveryLayer) {
  const auto window_of_first = [](const char* type, const char* keys) {
    Json json = examples::with("llama", keys);
    json["model_type"] = type;
    json["moe_intermediate_size"] = json["shared_expert_intermediate_size"] = 8;
    return parse_config(json).layer(0).window;
  };
  for (const char* type : {"qwen2", "qwen3"}) {
    EXPECT_EQ(window_of_first(type, R"({"use_sliding_window": true, "max_window_layers": 0})"), 4096) << type;
    EXPECT_EQ(window_of_first(type, R"({"use_sliding_window": true, "max_window_layers": 1})"), 0) << type;
    EXPECT_EQ(window_of_first(type, R"({"use_sliding_window": false, "sliding_window": 0})"), 0) << type;
  }
  for (const char* type : {"qwen2", "qwen3", "qwen3_moe"})  // null is none, and not what the class has without the key
    EXPECT_EQ(window_of_first(type, R"({"use_sliding_window": true, "sliding_window": null, "max_window_layers": 0})"),
              0)
        << type;
  EXPECT_EQ(window_of_first("qwen2_moe", R"({"use_sliding_window": true, "max_window_layers": 0})"), 0);
}

TEST(Config, GemmasTakeTheirActivationFromOneOfTwoKeys) {
  for (const auto& [type, activation] :
       {std::pair{"gemma", Activation::gelu}, {"gemma2", Activation::silu}, {"gemma3_text", Activation::silu}}) {
    Json json = examples::with("llama", R"({"hidden_act": "gelu", "hidden_activation": "silu", "head_dim": 8})");
    json["model_type"] = type;
    EXPECT_EQ(parse_config(json).activation, activation) << type;
    json.erase("hidden_act");
    json.erase("hidden_activation");
    EXPECT_EQ(parse_config(json).activation, Activation::gelu_tanh) << type;
  }
}

// EmbeddingGemma looks both ways, half of the window on each side.
TEST(Config, GemmaMayLookBothWays) {
  Json json = examples::with("llama", R"({"use_bidirectional_attention": true, "sliding_window": 512, "head_dim": 8})");
  json["model_type"] = "gemma3_text";
  EXPECT_FALSE(parse_config(json).causal);
  EXPECT_EQ(parse_config(json).layer(0).window, 257);
  json["use_bidirectional_attention"] = false;
  EXPECT_TRUE(parse_config(json).causal);
  EXPECT_EQ(parse_config(json).layer(0).window, 512);
  json["model_type"] = "llama";
  json["use_bidirectional_attention"] = true;
  EXPECT_THAT(error_of([&] { parse_config(json); }), HasSubstr("use_bidirectional_attention"));
}

// What Hugging Face's classes put up with.
TEST(Config, KeysThatChangeNothing) {
  const Config padded = parsed("llama", R"({"pad_token_id": 67})");
  EXPECT_EQ(padded.pad_token, std::nullopt);
  EXPECT_THAT(padded.notes, ElementsAre(HasSubstr("pad_token_id 67 is ignored")));
  const Config ends = parsed("gpt2", R"({"bos_token_id": 50256, "eos_token_id": 50256})");
  EXPECT_EQ(ends.eos_token, std::nullopt);
  EXPECT_THAT(ends.notes, ElementsAre(HasSubstr("bos_token_id 50256"), HasSubstr("eos_token_id 50256")));
  EXPECT_EQ(parsed("llama", R"({"rope_scaling": {"type": "linear", "factor": 2.0, "finetuned": true}})").rope.factor,
            2);
  EXPECT_EQ(parsed("gpt2", R"({"activation_function": "gelu_accurate"})").activation, Activation::gelu_tanh);
  for (const auto& [type, place] :
       {std::pair{"bart", NormPlace::after}, {"mbart", NormPlace::before}, {"m2m_100", NormPlace::before}}) {
    const bool first = place == NormPlace::before;
    Json json = least(type);
    json["normalize_before"] = !first;
    json["add_final_layer_norm"] = !first;
    const Config config = parse_config(json);
    EXPECT_EQ(config.norm_place, place) << type;
    EXPECT_EQ(config.final_norm, first) << type;
    EXPECT_EQ(config.notes.size(), 2u) << type;
    EXPECT_FALSE(config.only_limpid) << type;
  }
}

TEST(Config, NamesThatAClassTakesForItsOwn) {
  const Config gpt2 = parse_config(Json::parse(R"({"model_type": "gpt2", "vocab_size": 61, "hidden_size": 16,
      "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 32})"));
  EXPECT_EQ(gpt2.width, 16);
  EXPECT_EQ(gpt2.head_size, 4);
  EXPECT_EQ(gpt2.max_positions, 32);
  EXPECT_THAT(gpt2.notes, IsEmpty());
  const Config t5 = parse_config(Json::parse(R"({"model_type": "t5", "vocab_size": 61, "hidden_size": 16,
      "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 6, "d_ff": 20})"));
  EXPECT_EQ(t5.head_size, 6);
  EXPECT_EQ(t5.encoder.layers, 2);
}

// Of a file; what somebody asks for is to be said in full.
TEST(Config, SizesThatAFileLeavesOutAreThoseOfTheClass) {
  const TemporaryFolder folder;
  for (const char* type :
       {"bert",      "roberta", "mpnet",     "modernbert", "distilbert", "gpt2",        "gptj",        "gpt_neo",
        "gpt_neox",  "opt",     "bloom",     "falcon",     "llama",      "mistral",     "mixtral",     "qwen2",
        "qwen2_moe", "qwen3",   "qwen3_moe", "gemma",      "gemma2",     "gemma3_text", "phi",         "phi3",
        "smollm3",   "olmo",    "olmo2",     "granite",    "starcoder2", "stablelm",    "cohere",      "marian",
        "pegasus",   "bart",    "mbart",     "m2m_100",    "t5",         "mt5",         "xlm-roberta", "camembert"}) {
    Json json = {{"model_type", type}, {"decoder_start_token_id", 0}};
    write_text(folder / "config.json", json.dump());
    EXPECT_GT(load_config(folder.path().string()).vocab, 30000) << type;
    EXPECT_NE(error_of([&] { parse_config(json); }), "") << type;
  }
  write_text(folder / "config.json", R"({"model_type": "llama", "hidden_size": 64})");
  const Config llama = load_config(folder.path().string());
  EXPECT_EQ(llama.width, 64);
  EXPECT_EQ(llama.stack().ffn, 11008);
  write_text(folder / "config.json", R"({"model_type": "bart"})");
  EXPECT_EQ(load_config(folder.path().string()).encoder.layers, 12);
}

// Its class rounds slopes to bfloat16.
TEST(Config, FalconsSlopesArePowersOfTwo) {
  const auto falcon = [](int64_t heads) {
    return Json{{"model_type", "falcon"},       {"vocab_size", 61}, {"hidden_size", 96},    {"num_hidden_layers", 2},
                {"num_attention_heads", heads}, {"alibi", true},    {"multi_query", false}, {"parallel_attn", false}};
  };
  for (const int64_t heads : {2, 4, 8}) EXPECT_EQ(error_of([&] { parse_config(falcon(heads)); }), "") << heads;
  for (const int64_t heads : {3, 6, 12, 16, 32})
    EXPECT_THAT(error_of([&] { parse_config(falcon(heads)); }), StartsWith("[config] alibi is true")) << heads;
}

TEST(Config, PythiaTurnsAPartOfAHeadUnderEitherName) {
  const auto turned = [](const char* keys) {
    Json json = examples::with("llama", keys);
    json["model_type"] = "gpt_neox";
    return parse_config(json).rope;
  };
  EXPECT_EQ(turned("{}").dims, 2);
  EXPECT_EQ(turned(R"({"rotary_pct": 0.5})").dims, 4);
  EXPECT_EQ(turned(R"({"partial_rotary_factor": 0.5, "rope_theta": 500})").dims, 4);
  EXPECT_EQ(turned(R"({"partial_rotary_factor": 0.5, "rope_theta": 500})").theta, 500);
  EXPECT_EQ(
      turned(R"({"rotary_pct": 0.25, "partial_rotary_factor": 0.25, "rotary_emb_base": 7, "rope_theta": 7})").theta, 7);
}

TEST(Config, PositionsOfTrainingStandInsideOrBesideTheScaling) {
  const auto rope = [](const char* keys) { return parsed("llama", keys).rope; };
  EXPECT_EQ(rope(R"({"max_position_embeddings": 64, "rope_scaling": {"rope_type": "yarn", "factor": 4,
                     "original_max_position_embeddings": 16}})")
                .original_positions,
            16);
  EXPECT_EQ(rope(R"({"max_position_embeddings": 64, "original_max_position_embeddings": 32, "rope_scaling":
                     {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 16}})")
                .original_positions,
            32);
  EXPECT_EQ(rope(R"({"max_position_embeddings": 64, "rope_scaling": {"rope_type": "dynamic", "factor": 4,
                     "original_max_position_embeddings": 16}})")
                .original_positions,
            64);
  const RopeConfig said = rope(R"({"max_position_embeddings": 64, "rope_scaling": {"rope_type": "longrope", "factor": 2,
      "original_max_position_embeddings": 16, "short_factor": [1, 1, 1, 1], "long_factor": [1, 2, 3, 4]}})");
  EXPECT_NEAR(said.attention_factor, std::sqrt(1 + std::log(2.0) / std::log(16.0)), 1e-12);
}

TEST(Config, LogitsOfT5AreScaledAsTheReleaseThatWroteItDoes) {
  const auto factor = [](const char* type, const char* keys) {
    Json json = {{"vocab_size", 57}, {"d_model", 16}, {"d_kv", 4}, {"d_ff", 24}, {"num_layers", 2}, {"num_heads", 4}};
    json.update(Json::parse(keys));
    json["model_type"] = type;
    return parse_config(json).logit_factor;
  };
  EXPECT_EQ(factor("t5", "{}"), real{0.25});
  EXPECT_EQ(factor("t5", R"({"tie_word_embeddings": false})"), 1);
  const char* newer =
      R"({"tie_word_embeddings": true, "transformers_version": "5.2.0", "scale_decoder_outputs": false})";
  EXPECT_EQ(factor("t5", newer), 1);
  EXPECT_EQ(factor("t5", R"({"transformers_version": "5.2.0", "scale_decoder_outputs": true})"), real{0.25});
  EXPECT_EQ(factor("t5", R"({"transformers_version": "5.2.0"})"), real{0.25});
  EXPECT_EQ(factor("mt5", R"({"tie_word_embeddings": true, "transformers_version": "5.2.0"})"), 1);
  EXPECT_EQ(factor("mt5", R"({"tie_word_embeddings": true, "transformers_version": "4.44.2"})"), real{0.25});
}

TEST(Config, TheTextPartOfAModelThatReadsPicturesHasItsOwnConfig) {
  // As published: sizes of Hugging Face's class left out.
  const Config config = parse_config(Json::parse(R"({"model_type": "gemma3", "eos_token_id": [1, 106], "text_config":
      {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
       "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024}, "vision_config": {}})"));
  EXPECT_EQ(config.model_type, "gemma3_text");
  EXPECT_EQ(config.vocab, 262208);
  EXPECT_EQ(config.decoder.heads, 8);
  EXPECT_EQ(config.decoder.kv_heads, 4);
  EXPECT_EQ(config.eos_token, 1);
  EXPECT_EQ(config.rope.factor, 8);
  EXPECT_EQ(config.layer(0).window, 1024);
  EXPECT_FALSE(config.json.contains("text_config"));
  EXPECT_THROW(parse_config({{"model_type", "gemma3"}, {"text_config", {{"model_type", 5}}}}), Error);
}

TEST(Config, M2mHasHuggingFacesDefaults) {
  const Config config = parsed("m2m_100");
  EXPECT_EQ(config.activation, Activation::relu);
  EXPECT_TRUE(config.scale_embedding);
  EXPECT_EQ(parsed("mbart").activation, Activation::gelu);
  EXPECT_FALSE(parsed("mbart").scale_embedding);
}

TEST(Config, BertHasHuggingFacesDefaults) {
  const Config config = parsed("bert");
  EXPECT_EQ(config.family, Family::encoder);
  EXPECT_EQ(config.token_types, 2);
  EXPECT_EQ(config.max_positions, 32);
  expect_stack(config.stack(), {.layers = 3, .heads = 2, .kv_heads = 2, .ffn = 48});
  expect_stack(config.decoder, {});
  EXPECT_EQ(config.norm_place, NormPlace::after);
  EXPECT_EQ(config.norm_eps, static_cast<real>(1e-12));
  EXPECT_TRUE(config.embedding_norm && config.output_bias && config.tie_output && config.attention_bias);
  EXPECT_FALSE(config.final_norm || config.causal || config.gated);
  EXPECT_EQ(config.positions, PositionKind::learned);
  EXPECT_EQ(config.activation, Activation::gelu);
  expect_dropout(config.dropout, {.embedding = 0.1, .attention = 0.1, .activation = 0, .residual = 0.1});
  EXPECT_EQ(config.pad_token, 0);
  EXPECT_EQ(config.mask_token, std::nullopt);
  EXPECT_EQ(parsed("bert", R"({"mask_token_id": 4})").mask_token, 4);
  // Whatever the blocks have, RoBERTa guesses words behind GELU; BERT behind its own activation.
  EXPECT_EQ(parsed("bert", R"({"hidden_act": "relu"})").head_activation, Activation::relu);
  EXPECT_EQ(parsed("bert", R"({"model_type": "roberta", "hidden_act": "relu"})").head_activation, Activation::gelu);
}

TEST(Config, MarianIsPostNorm) {
  const Config config = parsed("marian");
  EXPECT_EQ(config.family, Family::seq2seq);
  EXPECT_EQ(config.width, 16);
  EXPECT_EQ(config.head_size, 8);
  EXPECT_EQ(config.max_positions, 1024);
  expect_stack(config.encoder, {.layers = 2, .heads = 2, .kv_heads = 2, .ffn = 24});
  expect_stack(config.decoder, {.layers = 3, .heads = 2, .kv_heads = 2, .ffn = 40});
  EXPECT_EQ(config.norm_place, NormPlace::after);
  EXPECT_EQ(config.norm_eps, static_cast<real>(1e-5));
  EXPECT_FALSE(config.final_norm || config.embedding_norm || config.scale_embedding);
  EXPECT_EQ(config.positions, PositionKind::sinusoidal);
  EXPECT_EQ(config.sinusoids, SinusoidLayout::halves);
  EXPECT_EQ(config.activation, Activation::gelu);
  EXPECT_TRUE(config.output_bias && config.tie_output && config.share_source_embedding && config.causal);
  expect_dropout(config.dropout, {.embedding = 0.1, .attention = 0, .activation = 0, .residual = 0.1});
  EXPECT_EQ(config.initializer_range, 0.02);
  EXPECT_EQ(config.pad_token, std::nullopt);  // 58100 is not in this vocabulary
  EXPECT_EQ(config.eos_token, 0);
  EXPECT_EQ(config.decoder_start_token, 0);
  EXPECT_FALSE(config.only_limpid);
}

TEST(Config, PegasusIsPreNorm) {
  const Config config = parsed("pegasus");
  EXPECT_EQ(config.norm_place, NormPlace::before);
  EXPECT_TRUE(config.final_norm);
  EXPECT_EQ(config.pad_token, 0);
  EXPECT_EQ(config.eos_token, 1);
  EXPECT_FALSE(config.only_limpid);
}

TEST(Config, NormalizeBeforeDecidesAgainstTheFamilyAndSaysSo) {
  const Config pre = parsed("marian", R"({"normalize_before": true})");
  EXPECT_EQ(pre.norm_place, NormPlace::before);
  EXPECT_TRUE(pre.final_norm && pre.only_limpid);
  EXPECT_THAT(pre.notes, ElementsAre(AllOf(HasSubstr("normalize_before is true"), HasSubstr("marian is post-norm"))));
  const Config theirs = parsed("marian", R"({"normalize_before": true, "transformers_version": "4.56.2"})");
  EXPECT_EQ(theirs.norm_place, NormPlace::after);
  EXPECT_THAT(theirs.notes, ElementsAre(HasSubstr("normalize_before is ignored")));
  const Config post = parsed("pegasus", R"({"normalize_before": false})");
  EXPECT_EQ(post.norm_place, NormPlace::after);
  EXPECT_TRUE(!post.final_norm && post.only_limpid);
  EXPECT_FALSE(parsed("marian", R"({"normalize_before": false})").only_limpid);
}

TEST(Config, OptionalKeysAreRead) {
  const Config marian = parsed("marian", R"({"dropout": 0.3, "attention_dropout": 0.2, "activation_dropout": 0.1,
      "scale_embedding": true, "tie_word_embeddings": false, "share_encoder_decoder_embeddings": false, "init_std": 0.1,
      "pad_token_id": 5, "bos_token_id": 6, "eos_token_id": 7, "decoder_start_token_id": 8, "decoder_vocab_size": 57,
      "max_position_embeddings": 9})");
  expect_dropout(marian.dropout, {.embedding = 0.3, .attention = 0.2, .activation = 0.1, .residual = 0.3});
  EXPECT_TRUE(marian.scale_embedding && !marian.tie_output && !marian.share_source_embedding && !marian.only_limpid);
  EXPECT_TRUE(parsed("pegasus", R"({"share_encoder_decoder_embeddings": false})").only_limpid);
  EXPECT_EQ(marian.initializer_range, 0.1);
  EXPECT_EQ(marian.max_positions, 9);
  EXPECT_THAT((std::vector{marian.pad_token, marian.bos_token, marian.eos_token, marian.decoder_start_token}),
              ElementsAre(5, 6, 7, 8));

  const Config gpt2 =
      parsed("gpt2", R"({"n_inner": 24, "scale_attn_weights": false, "embd_pdrop": 0.1, "attn_pdrop": 0.2,
      "resid_pdrop": 0.3, "layer_norm_epsilon": 1e-3, "tie_word_embeddings": false, "initializer_range": 0.5})");
  EXPECT_EQ(gpt2.decoder.ffn, 24);
  EXPECT_TRUE(!gpt2.scale_scores && !gpt2.tie_output && !gpt2.only_limpid);
  expect_dropout(gpt2.dropout, {.embedding = 0.1, .attention = 0.2, .activation = 0, .residual = 0.3});
  EXPECT_EQ(gpt2.norm_eps, static_cast<real>(1e-3));
  EXPECT_EQ(gpt2.initializer_range, 0.5);

  const Config llama =
      parsed("llama", R"({"num_key_value_heads": 2, "head_dim": 10, "attention_bias": true, "mlp_bias": true,
      "rope_theta": 5e5, "rms_norm_eps": 1e-5, "attention_dropout": 0.1, "tie_word_embeddings": true,
      "max_position_embeddings": 64, "eos_token_id": [3, 5], "pad_token_id": -1, "bos_token_id": null})");
  EXPECT_EQ(llama.decoder.kv_heads, 2);
  EXPECT_EQ(llama.head_size, 10);
  EXPECT_TRUE(llama.attention_bias && llama.ffn_bias && llama.tie_output);
  EXPECT_EQ(llama.rope.theta, 500000);
  EXPECT_EQ(llama.dropout.attention, 0.1);
  EXPECT_EQ(llama.eos_token, 3);
  EXPECT_EQ(llama.pad_token, std::nullopt);

  const Config bert = parsed("bert", R"({"hidden_dropout_prob": 0.2, "attention_probs_dropout_prob": 0.3,
      "type_vocab_size": 1, "layer_norm_eps": 1e-5, "tie_word_embeddings": false})");
  expect_dropout(bert.dropout, {.embedding = 0.2, .attention = 0.3, .activation = 0, .residual = 0.2});
  EXPECT_EQ(bert.token_types, 1);
  EXPECT_FALSE(bert.tie_output);
}

TEST(Config, ActivationsHaveSeveralNames) {
  const auto activation = [](const char* name) {
    examples::Json json = least("bert");
    json["hidden_act"] = name;
    return parse_config(json).activation;
  };
  EXPECT_EQ(activation("relu"), Activation::relu);
  for (const char* name : {"gelu", "gelu_python"}) EXPECT_EQ(activation(name), Activation::gelu);
  for (const char* name : {"gelu_new", "gelu_fast", "gelu_pytorch_tanh"})
    EXPECT_EQ(activation(name), Activation::gelu_tanh);
  for (const char* name : {"silu", "swish"}) EXPECT_EQ(activation(name), Activation::silu);
  EXPECT_EQ(activation("tanh"), Activation::tanh);
  EXPECT_EQ(activation("linear"), Activation::none);
}

TEST(Config, RotaryBaseMayStandInRopeParameters) {
  EXPECT_EQ(parsed("llama", R"({"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}})").rope.theta,
            real{500000});
  EXPECT_EQ(parsed("llama", R"({"rope_theta": 7, "rope_scaling": {"type": "default"}})").rope.theta, 7);
  EXPECT_EQ(parsed("llama", R"({"rope_theta": 7, "rope_scaling": null})").rope.theta, 7);
}

TEST(Config, RecurrentModels) {
  const Config config = parsed("rnn_seq2seq");
  EXPECT_EQ(config.family, Family::rnn_seq2seq);
  EXPECT_EQ(config.width, 20);
  EXPECT_EQ(config.rnn.embed, 12);
  EXPECT_EQ(config.rnn.hidden, 20);
  EXPECT_EQ(config.rnn.layers, 2);
  EXPECT_EQ(config.rnn.cell, CellKind::lstm);
  EXPECT_EQ(config.rnn.context, ContextUse::initial);
  EXPECT_FALSE(config.rnn.bidirectional || config.tie_output || config.share_source_embedding);
  EXPECT_TRUE(config.output_bias && config.only_limpid);
  EXPECT_EQ(config.decoder_start_token, 1);
  EXPECT_EQ(parsed("rnn_seq2seq", R"({"cell": "gru"})").rnn.cell, CellKind::gru);
  EXPECT_EQ(parsed("rnn_seq2seq", R"({"context": "every_step"})").rnn.context, ContextUse::every_step);
  const Config both = parsed("rnn_seq2seq", R"({"attention": "additive", "bidirectional": true, "dropout": 0.2})");
  EXPECT_EQ(both.rnn.context, ContextUse::additive);
  EXPECT_TRUE(both.rnn.bidirectional);
  expect_dropout(both.dropout, {.residual = 0.2});
}

TEST(LoadConfig, TakesAFileOrAFolder) {
  const TemporaryFolder folder;
  write_text(folder / "config.json", least("gpt2").dump());
  EXPECT_EQ(load_config(folder.path().string()).vocab, 61);
  EXPECT_EQ(load_config((folder / "config.json").string()).vocab, 61);
}

TEST(LoadConfig, SaysWhichFileIsWrong) {
  const TemporaryFolder folder;
  const std::string file = (folder / "config.json").string();
  const auto error = [&] { return error_of([&] { load_config(folder.path().string()); }); };
  EXPECT_THAT(error(), AllOf(HasSubstr(folder.path().string()), HasSubstr("holds no config.json")));
  EXPECT_THAT(error_of([&] { load_config((folder / "absent.json").string()); }), HasSubstr("absent.json"));
  write_text(file, "{\n \"model_type\": \"gpt2\",\n \"vocab_size\" 61\n}");
  EXPECT_THAT(error(), AllOf(StartsWith("[config] " + file + ":3:16: syntax error"), HasSubstr("expected ':'")));
  write_text(file, "{\"a\": 1,\n \"b\": tru}");
  EXPECT_THAT(error(), StartsWith("[config] " + file + ":2:10: syntax error"));
  write_text(file, "}");
  EXPECT_THAT(error(), HasSubstr(":1:1: syntax error"));
  write_text(file, "");
  EXPECT_THAT(error(), AllOf(StartsWith("[config] " + file), HasSubstr("is empty")));
  write_text(file, examples::with("gpt2", R"({"n_head": 3})").dump());
  EXPECT_THAT(error(), AllOf(StartsWith("[config] n_head 3 does not divide n_embd 16: "), EndsWith("(" + file + ")")));
  write_text(file, "[1, 2]");
  EXPECT_THAT(error(), AllOf(HasSubstr(file), HasSubstr("[1,2]"), HasSubstr("JSON object")));
  write_text(file, "{\"a\": \"\xff\"}");
  EXPECT_THAT(error(), HasSubstr("UTF-8"));
  write_text(file, std::string(1000000, '['));
  EXPECT_THAT(error(), HasSubstr("deeper than"));
  fs::resize_file(file, 17 << 20);
  EXPECT_THAT(error(), HasSubstr("17.8 MB"));
}

// The eleven reference cases, where they are at hand.
TEST(LoadConfig, ReadsTheReferenceCases) {
  const char* given = std::getenv("LIMPID_REFERENCE");
  const fs::path reference = given ? fs::path(given) : fs::path(LIMPID_SOURCE_DIR) / "../shared/reference";
  if (!fs::is_directory(reference)) GTEST_SKIP() << "no reference cases in " << reference;
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(reference)) {
    if (!fs::exists(entry.path() / "config.json")) continue;
    const Config config = load_config(entry.path().string());
    const bool rnn = config.family == Family::rnn_seq2seq;
    EXPECT_THAT(config.notes, IsEmpty()) << entry.path();
    EXPECT_EQ(config.only_limpid, rnn) << entry.path();
    const std::string name = entry.path().filename().string();
    EXPECT_EQ(config.rnn.context == ContextUse::additive, name.find("additive") != std::string::npos) << name;
    EXPECT_EQ(rnn && config.rnn.cell == CellKind::lstm, name.starts_with("lstm")) << name;
    EXPECT_EQ(config.norm_place == NormPlace::after, name == "seq2seq-post-norm" || name == "bert") << name;
    ++cases;
  }
  EXPECT_GE(cases, 11);
}

}  // namespace
}  // namespace limpid
