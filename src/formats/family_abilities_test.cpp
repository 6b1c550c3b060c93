// Every "yes" and every "–" of docs/models.md, tried on a small model of the family.

#include "formats/family_abilities.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "formats/gguf_export.h"
#include "formats/gguf_model.h"
#include "formats/model_folder.h"
#include "formats/plain_model.h"
#include "formats/quantize.h"
#include "models/config_steps.h"
#include "models/small_models.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

// A config of the family that GGUF can say, where GGUF knows it.
Json config_of(std::string_view model_type) {
  Json json;
  for (const auto& [name, one] : small_configs())
    if (json.is_null() && one["model_type"] == model_type && !one.contains("limpid")) json = one;
  const auto set = [&](const Json& keys) { json.merge_patch(keys); };
  if (model_type == "mistral") {
    set({{"head_dim", nullptr}});
    json["sliding_window"] = nullptr;  // no window; absent, it would be the usual one
  }
  if (model_type == "gemma2" || model_type == "gemma3_text")
    set({{"query_pre_attn_scalar", 6}, {"attn_logit_softcapping", model_type == "gemma2" ? Json(2.0) : Json()}});
  if (model_type == "gpt_neox") set({{"num_key_value_heads", nullptr}});
  if (model_type == "bert") set({{"architectures", {"BertForTokenClassification"}}});  // gives vectors
  if (model_type == "t5" || model_type == "mt5")
    set({{"relative_attention_max_distance", 128}, {"feed_forward_proj", model_type == "t5" ? "relu" : "gated-gelu"}});
  return json;
}

std::vector<real> scores(const Model& model, const Batch& batch) {
  Arena arena;
  limpid::Run run({.arena = arena});
  const bool vectors = !model.config().has_output();
  const Tensor y = vectors ? model.forward(run, batch, TokenChoice::labelled(batch)) : model.logits(run, batch);
  const real* first = y.values().row(0);
  return {first, first + y.rows() * y.cols()};
}

double distance(const std::vector<real>& a, const std::vector<real>& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    difference += std::pow(static_cast<double>(a.at(i)) - static_cast<double>(b[i]), 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return difference / size;
}

std::vector<std::string> model_types() {
  std::vector<std::string> types;
  for (const std::string_view type : known_model_types()) types.emplace_back(type);
  return types;
}

std::string name_of_test(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class Abilities : public testing::TestWithParam<std::string> {
 protected:
  Abilities() : json_(config_of(GetParam())) {
    if (!json_.is_null()) small_ = small_model(json_);
  }
  FamilyAbilities claimed() const { return family_abilities(GetParam()); }

  TemporaryFolder folder_;
  Json json_;
  SmallModel small_;
};
INSTANTIATE_TEST_SUITE_P(All, Abilities, testing::ValuesIn(model_types()), name_of_test);

TEST_P(Abilities, RunTrainAndLook) {
  ASSERT_FALSE(json_.is_null()) << "small_configs() has none of this model_type";
  EXPECT_TRUE(claimed().run && claimed().train && claimed().look);
  for (const real score : scores(*small_.model, small_.batch)) ASSERT_TRUE(std::isfinite(score));
  int64_t taps = 0;
  FunctionProbe probe;
  probe.on("*", [&](const Tap&) { ++taps; });
  {
    Arena arena;
    limpid::Run run({.arena = arena, .probe = &probe});
    small_.model->forward(run, small_.batch, TokenChoice::labelled(small_.batch));
  }
  EXPECT_GT(taps, 5);
  if (!small_.model->config().has_output()) return;  // an encoder of vectors has no loss of its own
  Gradients gradients(*small_.parameters);
  const Arena arena;
  Tape tape(arena, &gradients);
  limpid::Run run({.arena = arena, .tape = &tape, .train = true});
  small_.model->loss(run, small_.batch, {});
  tape.backward();
  gradients.finish();
  EXPECT_GT(gradients.norm(), 0);
}

TEST_P(Abilities, HuggingFaceFoldersComeBack) {
  ASSERT_FALSE(json_.is_null());
  EXPECT_TRUE(claimed().hf_out);
  write_model(folder_.path(), small_.model->config(), *small_.parameters);
  const auto model = make_model(read_model_config(folder_.path()));
  const MappedWeights weights(folder_.path(), *model);
  EXPECT_EQ(scores(*model, small_.batch), scores(*small_.model, small_.batch));
}

TEST_P(Abilities, Quantise) {
  ASSERT_FALSE(json_.is_null());
  EXPECT_TRUE(claimed().quantize);
  const QuantizedModel quantized = quantize(*small_.model, {.bits = 8});
  int64_t bytes = 0;
  quantized.model->visit_parameters([&](Weight& weight) { bytes += is_quantized(weight.type) ? weight.size() : 0; });
  EXPECT_GT(bytes, 0);
  for (const real score : scores(*quantized.model, small_.batch)) ASSERT_TRUE(std::isfinite(score));
}

TEST_P(Abilities, GgufAsTheTableSays) {
  ASSERT_FALSE(json_.is_null());
  const std::string reason = why_no_gguf(small_.model->config(), {});
  if (!claimed().gguf_out) {
    EXPECT_NE(reason, "");
    EXPECT_FALSE(claimed().gguf_in);
    return;
  }
  EXPECT_EQ(reason, "");
  const QuantizedModel rows = quantize(*small_.model, {.bits = 32, .for_gguf = true});
  const auto path = folder_ / "m.gguf";
  write_gguf(path, *rows.model, {}, {.name = "small"});
  const GgufFile file(path);
  const Config config = gguf_config(file);
  EXPECT_EQ(claimed().gguf_in, config.model_type == GetParam());
  const auto model = make_model(config);
  WeightHolder holder;
  attach_gguf(file, *model, holder);
  // Equal bits, but where GGUF keeps numbers otherwise: GPT-2's matrices lie by outputs instead of inputs, so that sums
  // are taken in another order; Gemma's gains are rounded with the one that is added; factors of longrope are floats.
  const Config& own = small_.model->config();
  const bool as_they_are =
      own.layout == WeightLayout::out_in && own.norm_offset == 0 && own.rope.scaling != RopeScaling::longrope;
  const auto expect_same = [&](const Model& other) {
    const std::vector<real> ours = scores(*small_.model, small_.batch), read = scores(other, small_.batch);
    if (as_they_are)
      EXPECT_EQ(read, ours);
    else
      EXPECT_LT(distance(read, ours), 1e-11);
  };
  expect_same(*model);
  // And on to a folder of Hugging Face, whose config says all that the GGUF file did.
  const PlainModel plain = plain_model(*model);
  make_folder(folder_ / "hf");
  write_model(folder_ / "hf", plain.model->config(), *plain.parameters);
  const auto again = make_model(read_model_config(folder_ / "hf"));
  const MappedWeights weights(folder_ / "hf", *again);
  expect_same(*again);
}

// What GGUF has no key for is refused and named.
TEST(GgufOut, WhatItCannotSayIsNamed) {
  const auto reason = [](std::string_view model_type, const Json& keys) {
    Json json = config_of(model_type);
    json.merge_patch(keys);
    return why_no_gguf(parse_config(json), {});
  };
  EXPECT_EQ(reason("llama", Json::object()), "");
  EXPECT_EQ(reason("llama", {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 4.0}}}}), "");
  EXPECT_EQ(reason("llama", {{"rope_scaling",
                              {{"rope_type", "llama3"},
                               {"factor", 8.0},
                               {"low_freq_factor", 1.0},
                               {"high_freq_factor", 4.0},
                               {"original_max_position_embeddings", 16}}}}),
            "");
  EXPECT_EQ(reason("llama", {{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}}}}), "");
  EXPECT_NE(reason("llama", {{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}, {"attention_factor", 1.5}}}})
                .find("rotary positions"),
            std::string::npos);
  EXPECT_NE(reason("llama", {{"rope_scaling", {{"rope_type", "dynamic"}, {"factor", 4.0}}}}).find("rotary"),
            std::string::npos);
  EXPECT_EQ(reason("llama", {{"attention_bias", true}, {"mlp_bias", true}}), "");
  EXPECT_NE(reason("qwen3", {{"attention_bias", true}}).find("biases"), std::string::npos);
  EXPECT_NE(reason("mistral", {{"sliding_window", 3}}).find("windows"), std::string::npos);
  EXPECT_NE(reason("gemma2", {{"query_pre_attn_scalar", 5}}).find("scale of its scores"), std::string::npos);
  EXPECT_NE(reason("gpt2", {{"scale_attn_by_inverse_layer_idx", true}}).find("scale of its scores"), std::string::npos);
  EXPECT_NE(reason("t5", {{"relative_attention_max_distance", 64}}).find("positions"), std::string::npos);
  EXPECT_NE(reason("bert", {{"architectures", {"BertForMaskedLM"}}}).find("ends in"), std::string::npos);
  EXPECT_NE(reason("gpt_neox", {{"hidden_act", "relu"}}).find("activation"), std::string::npos);
}

}  // namespace
}  // namespace limpid
