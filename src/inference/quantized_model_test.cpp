// Quantised models at work: cached decoding, batches, the comparison with the model they were made from.

#include <gtest/gtest.h>

#include <cmath>

#include "formats/quantize.h"
#include "inference/decoder_state.h"
#include "inference/model_comparison.h"
#include "inference/small_translators.h"

namespace limpid {
namespace {

using Ids = std::vector<int32_t>;

SmallModel small_writer(const std::string& name) {
  if (name == "llama") {
    nlohmann::ordered_json json = small_configs().at(name);
    json.merge_patch({{"hidden_size", 64}, {"intermediate_size", 96}});  // whole blocks
    return small_model(json);
  }
  return name.starts_with("gpt2") ? small_model(small_configs().at(name)) : small_translator(name);
}

bool reads_source(const Model& model) { return !model.config().continues_text(); }

// The scores of the token after the last one.
std::vector<real> full_pass(const Model& model, const Ids& text, const Ids& tokens) {
  Batch batch;
  if (reads_source(model)) {
    batch.source = Tokens::of({text});
    Ids input{static_cast<int32_t>(*model.config().decoder_start_token)};
    input.insert(input.end(), tokens.begin(), tokens.end());
    batch.input = Tokens::of({input});
  } else {
    Ids input = text;
    input.insert(input.end(), tokens.begin(), tokens.end());
    batch.input = Tokens::of({input});
  }
  batch.labels.assign(batch.input.ids.size(), -1);
  batch.labels.back() = 0;
  limpid::Run run({});
  const Tensor logits = model.logits(run, batch);
  return {logits.values().data, logits.values().data + logits.cols()};
}

double largest_difference(std::span<const real> a, std::span<const real> b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max<double>(most, std::abs(a[i] - b[i]));
  return most;
}

class QuantizedModels : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, QuantizedModels,
                         testing::Values("llama", "gpt2", "marian", "pegasus", "gru_attention", "lstm"),
                         config_of_test);

// A last digit of attention, which adds in another order where there are few queries, can push a number of the next
// product's input over to its neighbour of 8 bits: a small part of what quantisation itself changes.
TEST_P(QuantizedModels, CachedDecodingIsTheFullPass) {
  const SmallModel small = small_writer(GetParam());
  for (const int bits : {8, 4}) {
    const QuantizedModel quantized = quantize(*small.model, {.bits = bits});
    const Ids text = {3, 7, 5, 4, 2};
    const auto state = make_decoder_state(*quantized.model);
    Ids next = state->add(std::vector<Ids>{text}), tokens;
    for (int step = 0; step < 4; ++step) {
      const Tensor logits = state->step(next);
      const std::vector<real> expected = full_pass(*quantized.model, text, tokens);
      const double change = largest_difference(full_pass(*small.model, text, tokens), expected);
      EXPECT_GT(change, 0);
      EXPECT_LE(largest_difference({logits.values().data, expected.size()}, expected), 0.25 * change) << step;
      next = {static_cast<int32_t>(4 + 3 * step)};
      tokens.push_back(next[0]);
    }
  }
}

TEST_P(QuantizedModels, ATextAloneIsTheSameInABatch) {
  const SmallModel small = small_writer(GetParam());
  const QuantizedModel quantized = quantize(*small.model, {.bits = 8});
  const std::vector<Ids> texts = {{3, 7, 5, 4, 2}, {9, 2}, {4, 6, 8, 2}};
  const auto together = make_decoder_state(*quantized.model);
  const Tensor all = together->step(together->add(texts));
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto alone = make_decoder_state(*quantized.model);
    const Tensor one = alone->step(alone->add(std::vector<Ids>{texts[i]}));
    for (int64_t j = 0; j < one.cols(); ++j)
      ASSERT_EQ(one.values()(0, j), all.values()(static_cast<int64_t>(i), j)) << i << ", " << j;
  }
}

TEST_P(QuantizedModels, ComparisonTellsWhatWasLost) {
  const SmallModel small = small_writer(GetParam());
  const Batch batch = small_batch(small.model->config());
  const ModelComparison same = compare_models(*small.model, *small.model, std::span(&batch, 1));
  EXPECT_EQ(same.divergence, 0);
  EXPECT_EQ(same.agreement, 1);
  EXPECT_EQ(same.tokens, static_cast<int64_t>(batch.labels.size()));
  limpid::Run run({});
  const Loss loss = small.model->loss(run, batch, {});
  EXPECT_NEAR(same.loss, loss.mean(), 1e-5);
  EXPECT_NEAR(same.perplexity(), std::exp(same.reference_loss), 1e-9);

  const QuantizedModel eight = quantize(*small.model, {.bits = 8});
  const ModelComparison lost = compare_models(*small.model, *eight.model, std::span(&batch, 1));
  EXPECT_GT(lost.divergence, 0);
  EXPECT_LT(lost.divergence, 0.05);
  EXPECT_EQ(lost.reference_loss, same.loss);
}

}  // namespace
}  // namespace limpid
