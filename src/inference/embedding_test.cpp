#include "inference/embedding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "inference/fill_mask.h"
#include "inference/sampling.h"
#include "inference/small_translators.h"
#include "models/encoder.h"

namespace limpid {
namespace {

const std::vector<std::vector<int32_t>> kTexts = {{3, 4, 5}, {6}, {7, 8, 9, 10, 3}};

class Embedding : public testing::Test {
 protected:
  void SetUp() override { set_threads(1); }
  void TearDown() override { set_threads(0); }
};

void expect_near(const std::vector<real>& a, const std::vector<real>& b, double tolerance = 1e-5) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

TEST_F(Embedding, PoolsTheLastVectors) {
  const SmallModel small = small_model(small_configs().at("bert"));
  limpid::Run run({});
  const Tensor x = dynamic_cast<const Encoder&>(*small.model).encode(run, Tokens::of({kTexts[2]}));
  std::vector<real> mean(static_cast<size_t>(x.cols()));
  for (int64_t j = 0; j < x.cols(); ++j)
    for (int64_t i = 0; i < 5; ++i) mean[j] += x.values()(i, j) / 5;
  const auto row = [&](int64_t i) { return std::vector<real>(x.values().row(i), x.values().row(i) + x.cols()); };
  expect_near(embed(*small.model, kTexts, {.max_batch_tokens = 2})[2], mean);
  expect_near(embed(*small.model, kTexts, {.pooling = Pooling::first})[2], row(0));
  expect_near(embed(*small.model, kTexts, {.pooling = Pooling::last})[2], row(4));
  expect_near(embed(*small.model, std::span(kTexts).subspan(2, 1), {.pooling = Pooling::token, .token = 3})[0], row(3));
  expect_near(embed(*small.model, std::span(kTexts).subspan(2, 1), {.pooling = Pooling::token, .token = -2})[0],
              row(3));
  EXPECT_THROW(embed(*small.model, kTexts, {.pooling = Pooling::token, .token = 99}), Error);
}

TEST_F(Embedding, WaysOfPoolingStandSideBySideWithoutThePrompt) {
  const SmallModel small = small_model(small_configs().at("bert"));
  limpid::Run run({});
  const Tensor x = dynamic_cast<const Encoder&>(*small.model).encode(run, Tokens::of({kTexts[2]}));
  const std::span<const std::vector<int32_t>> text = std::span(kTexts).subspan(2, 1);
  std::vector<real> expected(x.values().row(0), x.values().row(0) + x.cols()), mean, weighted;
  for (int64_t j = 0; j < x.cols(); ++j) {
    mean.push_back((x.values()(2, j) + x.values()(3, j) + x.values()(4, j)) / 3);
    weighted.push_back((3 * x.values()(2, j) + 4 * x.values()(3, j) + 5 * x.values()(4, j)) / 12);
  }
  expected.insert(expected.end(), mean.begin(), mean.end());
  expected.insert(expected.end(), weighted.begin(), weighted.end());
  expect_near(embed(*small.model, text,
                    {.pooling = Pooling::first, .further = {Pooling::mean, Pooling::weighted}, .left_out = 2})[0],
              expected);
  EXPECT_THROW(embed(*small.model, text, {.left_out = 5}), Error);
}

TEST_F(Embedding, DenseLayersHaveTheirActivation) {
  const SmallModel small = small_model(small_configs().at("bert"));
  const std::span<const std::vector<int32_t>> text = std::span(kTexts).subspan(0, 1);
  const std::vector<real> x = embed(*small.model, text)[0];
  const auto width = static_cast<int64_t>(x.size());
  for (const auto& [activation, f] : std::vector<std::pair<Activation, double (*)(double)>>{
           {Activation::none, [](double v) { return v; }},
           {Activation::tanh, [](double v) { return std::tanh(v); }},
           {Activation::relu, [](double v) { return v > 0 ? v : 0; }},
           {Activation::gelu, [](double v) { return v * std::erfc(-v / std::sqrt(2.0)) / 2; }}}) {
    DenseLayer layer{.outputs = 2, .inputs = width, .activation = activation};
    layer.weight.assign(static_cast<size_t>(2 * width), 0);
    layer.weight[1] = 1;
    layer.weight[static_cast<size_t>(width)] = -1;
    const auto y = embed(*small.model, text, {.dense = {layer}})[0];
    ASSERT_EQ(y.size(), 2u);
    EXPECT_NEAR(y[0], f(static_cast<double>(x[1])), 1e-6);
    EXPECT_NEAR(y[1], f(-static_cast<double>(x[0])), 1e-6);
  }
}

// What a classifier's numbers are, its config says.
TEST_F(Embedding, NumbersOfLabelsAreOfThreeKinds) {
  const auto numbers = [&](const nlohmann::ordered_json& keys, LabelNumbers kind) {
    nlohmann::ordered_json json = small_configs().at("bert_labels");
    json.update(keys);
    const SmallModel small = small_model(json);
    EXPECT_EQ(label_numbers(small.model->config()), kind);
    limpid::Run run({});
    Batch batch;
    batch.input = Tokens::of({kTexts[0]});
    const Tensor logits = small.model->logits(run, batch, TokenChoice::of({0}));
    const std::vector<double> found = classify(*small.model, std::span(kTexts).subspan(0, 1))[0];
    EXPECT_EQ(static_cast<int64_t>(found.size()), logits.cols());
    for (int64_t i = 0; i < logits.cols(); ++i) {
      const auto x = static_cast<double>(logits.values()(0, i));
      if (kind == LabelNumbers::scores) {
        EXPECT_NEAR(found[i], x, 1e-6);
      } else if (kind == LabelNumbers::each) {
        EXPECT_NEAR(found[i], 1 / (1 + std::exp(-x)), 1e-6);
      }
    }
  };
  numbers({{"num_labels", 1}}, LabelNumbers::scores);
  numbers({{"problem_type", "regression"}}, LabelNumbers::scores);
  numbers({{"problem_type", "multi_label_classification"}}, LabelNumbers::each);
  numbers({{"problem_type", "single_label_classification"}}, LabelNumbers::one_of_all);
}

TEST_F(Embedding, EveryFamilyAndLayer) {
  for (const std::string name :
       {"marian", "pegasus", "gpt2", "llama", "bert", "bert_labels", "gru_attention", "lstm"}) {
    const SmallModel small = small_model(small_configs().at(name));
    const auto last = embed(*small.model, kTexts);
    std::vector<std::vector<std::vector<real>>> layers;
    for (int64_t layer = 0; layer < 2; ++layer)
      layers.push_back(embed(*small.model, kTexts, {.tap = layer_tap(small.model->config(), layer)}));
    ASSERT_EQ(last.size(), kTexts.size()) << name;
    EXPECT_NE(layers[0][0], layers[1][0]) << name;
    // Texts together are what they are alone.
    for (size_t i = 0; i < kTexts.size(); ++i)
      expect_near(embed(*small.model, std::span(kTexts).subspan(i, 1), {.tap = layer_tap(small.model->config(), 0)})[0],
                  layers[0][i]);
    EXPECT_THROW(layer_tap(small.model->config(), 2), Error);
  }
  // Post-norm models have nothing behind their last block.
  const SmallModel bert = small_model(small_configs().at("bert"));
  EXPECT_EQ(embed(*bert.model, kTexts), embed(*bert.model, kTexts, {.tap = "blocks.1.resid_post"}));
}

TEST_F(Embedding, AnyTapAndUnitLength) {
  const SmallModel small = small_model(small_configs().at("bert_labels"));
  const auto pooled = embed(*small.model, kTexts, {.tap = "pooled"});
  for (const auto& vector : pooled)
    for (const real x : vector) EXPECT_LT(std::abs(x), 1);
  for (const auto& vector : embed(*small.model, kTexts, {.tap = "blocks.0.ffn.pre", .normalize = true})) {
    double length = 0;
    for (const real x : vector) length += static_cast<double>(x) * static_cast<double>(x);
    EXPECT_NEAR(length, 1, 1e-5);
    EXPECT_EQ(vector.size(), 20u);
  }
  EXPECT_THROW(embed(*small.model, kTexts, {.tap = "blocks.7.resid_post"}), Error);
  EXPECT_THROW(embed(*small.model, kTexts, {.tap = "blocks.*.resid_post"}), Error);
  EXPECT_THROW(embed(*small.model, kTexts, {.tap = "blocks.0.attn.pattern"}), Error);
  const std::vector<std::vector<int32_t>> empty = {{}}, longer = {std::vector<int32_t>(33, 3)};
  EXPECT_THROW(embed(*small.model, empty), Error);
  EXPECT_THROW(embed(*small.model, longer), Error);
}

TEST_F(Embedding, MasksAreFilledByTheFullPass) {
  const SmallModel small = small_model(small_configs().at("bert"));
  const std::vector<std::vector<int32_t>> texts = {{3, 22, 5, 22}, {6, 7}, {22}};
  const auto filled = fill_masks(*small.model, texts, 22, 4);
  ASSERT_EQ(filled[0].size(), 2u);
  EXPECT_TRUE(filled[1].empty());
  ASSERT_EQ(filled[2].size(), 1u);
  limpid::Run run({});
  const Tensor logits = small.model->logits(run, Batch::masked({texts[0]}, {{-1, -1, -1, 0}}));
  const std::span<const real> row(logits.values().row(0), 23);
  const auto expected = likeliest(row, 4, log_sum_of_exp(row));
  EXPECT_EQ(filled[0][1].position, 3);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(filled[0][1].top[i].id, expected[i].id);
    EXPECT_NEAR(filled[0][1].top[i].log_probability, expected[i].log_probability, 1e-5);
  }
  const auto other = fill_masks(*small.model, texts, 22, 3, {expected[0].id})[0][1].top;
  ASSERT_EQ(other.size(), 3u);
  EXPECT_EQ(other[0].id, expected[1].id);
  EXPECT_THROW(fill_masks(*small_model(small_configs().at("gpt2")).model, texts, 22, 4), Error);
  EXPECT_THROW(fill_masks(*small_model(small_configs().at("bert_labels")).model, texts, 22, 4), Error);
}

TEST_F(Embedding, LabelsHaveTheProbabilitiesOfTheFullPass) {
  const SmallModel small = small_model(small_configs().at("bert_labels"));
  const auto results = classify(*small.model, kTexts);
  for (size_t i = 0; i < kTexts.size(); ++i) {
    std::vector<int32_t> labels(kTexts[i].size(), -1);
    labels[0] = 0;
    limpid::Run run({});
    const Tensor logits = small.model->logits(run, Batch::masked({kTexts[i]}, {labels}));
    const std::span<const real> row(logits.values().row(0), 3);
    ASSERT_EQ(results[i].size(), 3u);
    double sum = 0;
    for (size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(results[i][j], std::exp(static_cast<double>(row[j]) - log_sum_of_exp(row)), 1e-5);
      sum += results[i][j];
    }
    EXPECT_NEAR(sum, 1, 3 * std::numeric_limits<real>::epsilon());  // each of the three is rounded to a real
  }
  EXPECT_THROW(classify(*small_model(small_configs().at("bert")).model, kTexts), Error);
}

}  // namespace
}  // namespace limpid
