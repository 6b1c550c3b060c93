#include "formats/model_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/temporary_folder.h"
#include "formats/safetensors_writer.h"
#include "models/encoder.h"
#include "models/small_models.h"

namespace limpid {
namespace {

std::vector<real> logits_of(const Model& model, const Batch& batch) {
  limpid::Run run({});
  const Tensor logits = model.logits(run, batch);
  return {logits.values().data, logits.values().data + logits.values().size()};
}

double largest_difference(const std::vector<real>& a, const std::vector<real>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return most;
}

class ModelFolder : public testing::TestWithParam<std::string> {};

TEST_P(ModelFolder, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder;
  const SmallModel written = small_model(small_configs().at(GetParam()));
  write_model(folder.path(), written.model->config(), *written.parameters);
  const auto model = make_model(load_config(folder.path().string()));
  Parameters parameters([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); });
  read_weights(SafetensorsFolder(folder.path()), parameters);
  EXPECT_LT(largest_difference(logits_of(*model, written.batch), logits_of(*written.model, written.batch)), 1e-5);
}

class MappedModel : public testing::TestWithParam<std::string> {};

TEST_P(MappedModel, WeightsComputeInThePrecisionOfTheFile) {
  const TemporaryFolder folder;
  const SmallModel small = small_model(small_configs().at(GetParam()));
  for (DType type : {DType::f32, DType::f16, DType::bf16}) {
    write_model(folder.path(), small.model->config(), *small.parameters, type);
    const Config config = load_config(folder.path().string());
    const auto mapped = make_model(config), read = make_model(config);
    const MappedWeights weights(folder.path(), *mapped);
    Parameters parameters([&](const WeightVisitor& visitor) { read->visit_parameters(visitor); });
    read_weights(SafetensorsFolder(folder.path()), parameters);
    EXPECT_LT(largest_difference(logits_of(*mapped, small.batch), logits_of(*read, small.batch)), 1e-5)
        << name_of(type);
    limpid::Run run({});
    EXPECT_TRUE(std::isfinite(mapped->loss(run, small.batch, {}).mean()));
  }
}

// By statistics that never met data the values of batch norm run away, and rounding with them.
std::vector<std::string> names_without_batch_norm() {
  std::vector<std::string> names = small_config_names();
  std::erase_if(names,
                [](const std::string& name) { return parse_config(small_configs().at(name)).norm == NormKind::batch; });
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, ModelFolder, testing::ValuesIn(small_config_names()), config_of_test);
INSTANTIATE_TEST_SUITE_P(All, MappedModel, testing::ValuesIn(names_without_batch_norm()), config_of_test);

// Names and values of a file, changed, in a file beside it.
void rewrite(const std::filesystem::path& folder, const std::function<std::string(std::string)>& new_name) {
  const SafetensorsFile file(folder / "model.safetensors");
  std::vector<TensorToWrite> tensors;
  std::vector<std::vector<std::byte>> bytes;
  for (const SafetensorsEntry& entry : file.entries()) bytes.emplace_back(entry.bytes.begin(), entry.bytes.end());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const SafetensorsEntry& entry = file.entries()[i];
    if (const std::string name = new_name(entry.name); !name.empty())
      tensors.push_back({.name = name, .type = *entry.type, .shape = entry.shape, .bytes = bytes[i].data()});
  }
  write_safetensors(folder / "model.safetensors", tensors);
}

TEST(ModelFolder, ABertWithoutHeadAndPrefixGivesVectors) {
  const TemporaryFolder folder;
  const SmallModel small = small_model(small_configs().at("bert"));
  write_model(folder.path(), small.model->config(), *small.parameters);
  rewrite(folder.path(), [](std::string name) {
    return name.starts_with("cls.") ? std::string() : name.substr(std::string("bert.").size());
  });
  const Config config = read_model_config(folder.path());
  EXPECT_EQ(config.head, HeadKind::none);
  EXPECT_FALSE(config.has_output());
  const auto model = make_model(config);
  const MappedWeights weights(folder.path(), *model);
  limpid::Run run({});
  const Tensor ours = static_cast<const Encoder&>(*model).encode(run, small.batch.input);
  const Tensor whole = static_cast<const Encoder&>(*small.model).encode(run, small.batch.input);
  for (int64_t i = 0; i < ours.values().size(); ++i) EXPECT_EQ(ours.values().data[i], whole.values().data[i]);
  EXPECT_THROW(model->logits(run, small.batch), Error);
}

TEST(ModelFolder, TheBiasOfWordsHasTwoNames) {
  const TemporaryFolder folder;
  const SmallModel small = small_model(small_configs().at("roberta"));
  write_model(folder.path(), small.model->config(), *small.parameters);
  rewrite(folder.path(),
          [](const std::string& name) { return name == "lm_head.bias" ? std::string("lm_head.decoder.bias") : name; });
  const auto model = make_model(read_model_config(folder.path()));
  const MappedWeights weights(folder.path(), *model);
  limpid::Run run({}), again({});
  EXPECT_EQ(model->loss(run, small.batch, {}).mean(), small.model->loss(again, small.batch, {}).mean());
}

TEST(ModelFolder, ALanguageModelWithoutOutputLayerIsTied) {
  const TemporaryFolder folder;
  const SmallModel small = small_model(small_configs().at("llama"));
  write_model(folder.path(), small.model->config(), *small.parameters);
  rewrite(folder.path(), [](std::string name) {
    return name.starts_with("lm_head") ? std::string() : name.substr(std::string("model.").size());
  });
  const Config config = read_model_config(folder.path());
  EXPECT_TRUE(config.tie_output);
  EXPECT_FALSE(config.notes.empty());
  const auto model = make_model(config);
  const MappedWeights weights(folder.path(), *model);
  limpid::Run run({});
  EXPECT_TRUE(std::isfinite(model->loss(run, small.batch, {}).mean()));
}

// As releases from 5 on save BART and its like with tie_word_embeddings false; and as base classes save them.
TEST(ModelFolder, EncoderDecodersHaveTheEmbeddingsThatTheFileHas) {
  const TemporaryFolder folder;
  nlohmann::ordered_json json = small_configs().at("bart");
  json["share_encoder_decoder_embeddings"] = json["tie_word_embeddings"] = false;
  const SmallModel small = small_model(json);
  Config written = small.model->config();
  written.json.erase("share_encoder_decoder_embeddings");
  write_model(folder.path(), written, *small.parameters);
  const Config config = read_model_config(folder.path());
  EXPECT_FALSE(config.share_source_embedding);
  const auto model = make_model(config);
  const MappedWeights weights(folder.path(), *model);
  limpid::Run run({}), again({});
  EXPECT_EQ(model->loss(run, small.batch, {}).mean(), small.model->loss(again, small.batch, {}).mean());
  rewrite(folder.path(), [](std::string name) {
    return name.starts_with("lm_head") || name == "final_logits_bias" ? std::string()
                                                                      : name.substr(std::string("model.").size());
  });
  const Config base = read_model_config(folder.path());
  EXPECT_TRUE(base.tie_output);
  EXPECT_FALSE(base.share_source_embedding || base.output_bias);
}

// As releases from 5 on save T5 v1.1, Flan-T5 and mT5.
TEST(ModelFolder, AnOutputLayerOfItsOwnCountsMoreThanTheConfig) {
  const TemporaryFolder folder;
  const SmallModel small = small_model(small_configs().at("t5_gated"));
  Config written = small.model->config();
  EXPECT_FALSE(written.tie_output);
  written.json["tie_word_embeddings"] = true;
  written.json["scale_decoder_outputs"] = false;
  write_model(folder.path(), written, *small.parameters);
  const Config config = read_model_config(folder.path());
  EXPECT_FALSE(config.tie_output);
  EXPECT_EQ(config.json.at("tie_word_embeddings"), false);
  const auto model = make_model(config);
  const MappedWeights weights(folder.path(), *model);
  EXPECT_LT(largest_difference(logits_of(*model, small.batch), logits_of(*small.model, small.batch)), 1e-5);
  // Where it does not say whether logits are scaled, that follows from the tie as it was written, and stays so.
  written.json.erase("scale_decoder_outputs");
  write_model(folder.path(), written, *small.parameters);
  const Config scaled = read_model_config(folder.path());
  EXPECT_NE(scaled.logit_factor, 1);
  EXPECT_EQ(parse_config(scaled.json).logit_factor, scaled.logit_factor);
}

TEST(ModelFolder, TheTextPartOfAModelThatReadsPicturesOpens) {
  const SmallModel small = small_model(small_configs().at("gemma3"));
  for (const bool old : {true, false}) {
    const TemporaryFolder folder;
    Config config = small.model->config();
    config.json = {{"model_type", "gemma3"}, {"text_config", config.json}, {"vision_config", {{"hidden_size", 8}}}};
    write_model(folder.path(), config, *small.parameters);
    rewrite(folder.path(), [&](const std::string& name) {
      return old ? "language_model." + name : "model.language_model." + name.substr(std::string("model.").size());
    });
    const auto model = make_model(read_model_config(folder.path()));
    EXPECT_EQ(model->config().model_type, "gemma3_text");
    const MappedWeights weights(folder.path(), *model);
    EXPECT_LT(largest_difference(logits_of(*model, small.batch), logits_of(*small.model, small.batch)), 1e-5);
  }
}

TEST(ModelFolder, WeightsThatDoNotFitTheConfigAreNamed) {
  const TemporaryFolder folder;
  const SmallModel small = small_model(small_configs().at("gpt2"));
  write_model(folder.path(), small.model->config(), *small.parameters);
  auto json = small_configs().at("gpt2");
  json["n_embd"] = 15;
  const auto other = make_model(parse_config(json));
  Parameters parameters([&](const WeightVisitor& visitor) { other->visit_parameters(visitor); });
  try {
    read_weights(SafetensorsFolder(folder.path()), parameters);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("wte.weight has shape [23, 12], the config asks for [23, 15]"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace limpid
