#include "training/example_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/small_models.h"

namespace limpid {
namespace {

using testing::ElementsAre;

constexpr int32_t kBegin = 3, kEnd = 1, kMask = 4;

Config encoder_config(int64_t vocab) {
  nlohmann::ordered_json json = small_configs().at("bert");
  json.update({{"vocab_size", vocab},
               {"pad_token_id", 0},
               {"eos_token_id", kEnd},
               {"bos_token_id", kBegin},
               {"mask_token_id", kMask}});
  return parse_config(json);
}

// <s>, then ids 5, 6, 7, … that never repeat, </s>.
std::vector<TokenExample> texts(int count, int length) {
  std::vector<TokenExample> examples;
  for (int32_t i = 0; i < count; ++i) {
    TokenExample example;
    example.first.push_back(kBegin);
    for (int32_t j = 0; j < length; ++j) example.first.push_back(5 + i * length + j);
    example.first.push_back(kEnd);
    examples.push_back(example);
  }
  return examples;
}

TEST(ExampleBatch, PairsAreShiftedByTheStartToken) {
  const Config config = parse_config(small_configs().at("marian"));
  const Batch batch = make_batch({{{5, 6, 2}, {7, 2}}, {{8, 2}, {9, 10, 2}}}, config, {.task = Task::translation});
  EXPECT_THAT(batch.source.ids, ElementsAre(5, 6, 2, 8, 2));
  EXPECT_THAT(batch.input.ids, ElementsAre(0, 7, 0, 9, 10));
  EXPECT_THAT(batch.labels, ElementsAre(7, 2, 9, 10, 2));
}

TEST(ExampleBatch, ALanguageModelPredictsAllButTheFirst) {
  const Config config = parse_config(small_configs().at("gpt2"));
  const Batch batch = make_batch({{{3, 5, 6, 1}, {}}}, config, {.task = Task::language_model});
  EXPECT_THAT(batch.input.ids, ElementsAre(3, 5, 6));
  EXPECT_THAT(batch.labels, ElementsAre(5, 6, 1));
}

TEST(ExampleBatch, ALabelStandsAtTheFirstToken) {
  const Batch batch = make_batch({{{3, 5, 1}, {2}}, {{3, 1}, {0}}}, encoder_config(23), {.task = Task::classification});
  EXPECT_THAT(batch.input.ids, ElementsAre(3, 5, 1, 3, 1));
  EXPECT_THAT(batch.labels, ElementsAre(2, -1, -1, 0, -1));
}

// Devlin et al. 2019: 15 % are to be guessed; of these 80 % are masked, 10 % random, 10 % as they were.
TEST(ExampleBatch, MaskingHasThePapersShares) {
  constexpr int kTexts = 400, kLength = 100, kWords = kTexts * kLength;
  const Batch batch = make_batch(texts(kTexts, kLength), encoder_config(kWords + 5), {.task = Task::masked, .key = 7});
  double guessed = 0, masked = 0, random = 0, kept = 0;
  for (size_t i = 0; i < batch.labels.size(); ++i) {
    const int32_t in_text = static_cast<int32_t>(i % (kLength + 2)), text = static_cast<int32_t>(i / (kLength + 2));
    const bool special = in_text == 0 || in_text == kLength + 1;
    const int32_t was = in_text == 0 ? kBegin : special ? kEnd : 5 + text * kLength + in_text - 1;
    if (batch.labels[i] < 0) {
      ASSERT_EQ(batch.input.ids[i], was);  // what is not to be guessed stays
      continue;
    }
    ASSERT_FALSE(special);
    ASSERT_EQ(batch.labels[i], was);
    ++guessed;
    masked += batch.input.ids[i] == kMask;
    kept += batch.input.ids[i] == was;
    random += batch.input.ids[i] != was && batch.input.ids[i] != kMask;
  }
  EXPECT_NEAR(guessed / kWords, 0.15, 0.006);
  EXPECT_NEAR(masked / guessed, 0.8, 0.02);
  EXPECT_NEAR(random / guessed, 0.1, 0.015);
  EXPECT_NEAR(kept / guessed, 0.1, 0.015);
}

TEST(ExampleBatch, MaskingIsAFunctionOfItsKey) {
  const Config config = encoder_config(500);
  const auto masked = [&](uint64_t key, double share) {
    return make_batch(texts(4, 100), config, {.task = Task::masked, .mask_share = share, .key = key});
  };
  EXPECT_EQ(masked(1, 0.15).labels, masked(1, 0.15).labels);
  EXPECT_NE(masked(1, 0.15).labels, masked(2, 0.15).labels);
  const auto scored = [](const Batch& batch) {
    return std::count_if(batch.labels.begin(), batch.labels.end(), [](int32_t label) { return label >= 0; });
  };
  EXPECT_NEAR(static_cast<double>(scored(masked(1, 0.5))), 200, 30);
  EXPECT_EQ(scored(masked(1, 0)), 1);  // a loss needs one
}

TEST(ExampleBatch, WithoutAMaskTokenNothingCanBeMasked) {
  const Config config = parse_config(small_configs().at("bert"));
  EXPECT_THROW(make_batch(texts(1, 3), config, {.task = Task::masked}), Error);
}

TEST(ExampleBatch, LabelsAreCountedAsTheBatchHasThem) {
  const auto expect_counted = [](const std::vector<TokenExample>& examples, const Config& config,
                                 const ExampleBatchOptions& options) {
    const Batch batch = make_batch(examples, config, options);
    EXPECT_EQ(count_labels(examples, config, options),
              std::count_if(batch.labels.begin(), batch.labels.end(), [](int32_t label) { return label >= 0; }));
  };
  const std::vector<TokenExample> pairs = {{{5, 6, 2}, {7, 2}}, {{8, 2}, {9, 10, 2}}};
  expect_counted(pairs, parse_config(small_configs().at("marian")), {.task = Task::translation});
  expect_counted(texts(4, 7), parse_config(small_configs().at("gpt2")), {.task = Task::language_model});
  std::vector<TokenExample> labelled = texts(3, 5);
  for (TokenExample& example : labelled) example.second = {1};
  expect_counted(labelled, encoder_config(100), {.task = Task::classification});
  for (const uint64_t key : {1, 2, 3, 4}) {
    expect_counted(texts(20, 10), encoder_config(1000), {.task = Task::masked, .key = key});
    expect_counted(texts(1, 1), encoder_config(1000), {.task = Task::masked, .mask_share = 0.001, .key = key});
  }
}

}  // namespace
}  // namespace limpid
