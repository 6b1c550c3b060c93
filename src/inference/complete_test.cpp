#include "inference/complete.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/parallel.h"
#include "inference/byte_tokenizer.h"
#include "inference/score.h"
#include "inference/small_translators.h"

namespace limpid {
namespace {

SmallModel byte_model(const std::string& name, int64_t vocab = 260) {
  nlohmann::ordered_json json = small_configs().at(name);
  json["vocab_size"] = vocab;
  json["bos_token_id"] = ByteTokenizer::kBegin;
  json["eos_token_id"] = ByteTokenizer::kEnd;
  return small_model(json);
}

std::vector<int32_t> ids_of(const Completion& completion) {
  std::vector<int32_t> ids;
  for (const GeneratedToken& token : completion.tokens) ids.push_back(token.id);
  return ids;
}

class Complete : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    set_threads(1);
    small_ = byte_model(GetParam());
  }
  void TearDown() override { set_threads(0); }
  const Model& model() const { return *small_.model; }
  Completion run(const std::vector<int32_t>& prompt, const CompletionOptions& options) const {
    const CompletionRequest request{.ids = prompt, .options = options};
    return complete(model(), bytes_, {&request, 1}).at(0);
  }
  // Scores of the token after a text by a full pass.
  std::vector<real> full_pass(const std::vector<int32_t>& text) const {
    Batch batch{.input = Tokens::of({text}), .labels = std::vector<int32_t>(text.size(), -1)};
    batch.labels.back() = 0;
    limpid::Run run({});
    const Tensor logits = model().logits(run, batch);
    return {logits.values().row(0), logits.values().row(0) + logits.cols()};
  }

  ByteTokenizer bytes_;
  SmallModel small_;
  std::vector<int32_t> prompt_ = {ByteTokenizer::kBegin, 'H', 'i', ' '};
  CompletionOptions greedy_{.sampling = {.temperature = 0}, .max_tokens = 12, .ignore_end = true};
};

TEST_P(Complete, GreedyIsTheLikeliestByTheFullPass) {
  std::vector<int32_t> text = prompt_;
  const Completion completion =
      run(prompt_, {.sampling = {.temperature = 0}, .max_tokens = 12, .ignore_end = true, .top = 3});
  ASSERT_EQ(completion.tokens.size(), 12u);
  for (const GeneratedToken& token : completion.tokens) {
    const std::vector<real> row = full_pass(text);
    const double log_sum = log_sum_of_exp(row);
    EXPECT_NEAR(token.log_probability, static_cast<double>(row[token.id]) - log_sum, 1e-4);
    const auto top = likeliest(row, 3, log_sum);
    ASSERT_EQ(token.top.size(), 3u);
    EXPECT_NEAR(token.top[0].log_probability, top[0].log_probability, 1e-4);
    const auto chosen = candidates(row, {}, {.temperature = 0, .never = {ByteTokenizer::kEnd, ByteTokenizer::kPad}});
    EXPECT_EQ(token.id, chosen[0].id);
    text.push_back(token.id);
  }
  EXPECT_EQ(completion.finish_reason, FinishReason::max_tokens);
}

TEST_P(Complete, SameSeedSameTextAndAloneAsAmongOthers) {
  std::vector<CompletionRequest> requests;
  for (int i = 0; i < 7; ++i) {
    CompletionRequest request{.ids = prompt_, .options = {.max_tokens = 5 + 3 * i, .seed = 4}};
    request.ids.push_back('a' + i % 3);
    request.sample = static_cast<uint64_t>(i);
    requests.push_back(request);
  }
  const auto together = complete(model(), bytes_, requests, {.max_batch = 3});
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto alone = complete(model(), bytes_, {&requests[i], 1}).at(0);
    EXPECT_EQ(ids_of(alone), ids_of(together[i])) << i;
    EXPECT_EQ(alone.text, together[i].text);
  }
  requests[6].options.seed = 5;
  EXPECT_NE(ids_of(complete(model(), bytes_, {&requests[6], 1}).at(0)), ids_of(together[6]));
}

TEST_P(Complete, EndsAtTheEndToken) {
  CompletionOptions options = greedy_;
  options.ignore_end = false;
  options.sampling.bias = {{ByteTokenizer::kEnd, 100}};
  const Completion completion = run(prompt_, options);
  EXPECT_EQ(completion.finish_reason, FinishReason::end_token);
  EXPECT_TRUE(completion.tokens.empty());
  EXPECT_LT(completion.log_probability, 0);  // that of the end token
  options.ignore_end = true;
  EXPECT_EQ(run(prompt_, options).finish_reason, FinishReason::max_tokens);
}

TEST_P(Complete, EndsBeforeAStopString) {
  CompletionOptions options = greedy_;
  options.sampling.bias = {{'x', 100}};
  options.stop = {"xxx"};
  const Completion completion = run(prompt_, options);
  EXPECT_EQ(completion.finish_reason, FinishReason::stop_string);
  EXPECT_EQ(completion.stop_string, "xxx");
  EXPECT_EQ(completion.text, "");
  EXPECT_EQ(completion.tokens.size(), 3u);
  options.max_tokens = 2;  // a beginning of the stop string alone is text
  EXPECT_EQ(run(prompt_, options).text, "xx");
  EXPECT_EQ(run(prompt_, options).finish_reason, FinishReason::max_tokens);
}

TEST_P(Complete, EndsWhenTheListenerHasHeardEnough) {
  CompletionRequest request{.ids = prompt_, .options = greedy_};
  int heard = 0;
  request.listener = [&](const CompletionPart& part) { return part.token == nullptr || ++heard < 4; };
  const Completion completion = complete(model(), bytes_, {&request, 1}).at(0);
  EXPECT_EQ(completion.finish_reason, FinishReason::cancelled);
  EXPECT_EQ(completion.tokens.size(), 4u);
}

TEST_P(Complete, WhatIsStreamedIsTheText) {
  CompletionRequest request{.ids = prompt_, .options = {.max_tokens = 60, .ignore_end = true, .seed = 2}};
  std::string streamed;
  request.listener = [&](const CompletionPart& part) {
    EXPECT_FALSE(invalid_utf8(part.text));
    streamed += part.text;
    return true;
  };
  const Completion completion = complete(model(), bytes_, {&request, 1}).at(0);
  EXPECT_EQ(streamed, completion.text);
  EXPECT_EQ(completion.text, bytes_.decode(ids_of(completion)));
}

TEST_P(Complete, EndsWhereTheContextIsFullIfAsked) {
  CompletionOptions options = greedy_;
  options.context = 8;
  options.slide = false;
  const Completion completion = run(prompt_, options);
  EXPECT_EQ(completion.finish_reason, FinishReason::context_full);
  EXPECT_EQ(completion.tokens.size(), 5u);  // eight are read, and one more is written
  EXPECT_EQ(completion.forgotten, 0);
}

// Past the context a text goes on as if the later half had been its prompt.
TEST_P(Complete, SlidesAndSaysSo) {
  CompletionOptions options = greedy_;
  options.context = 8;
  const Completion completion = run(prompt_, options);
  ASSERT_EQ(completion.tokens.size(), 12u);
  EXPECT_EQ(completion.finish_reason, FinishReason::max_tokens);
  EXPECT_GT(completion.forgotten, 0);
  std::vector<int32_t> text = prompt_;
  for (size_t i = 0; i < 5; ++i) text.push_back(completion.tokens[i].id);
  std::vector<int32_t> kept = {ByteTokenizer::kBegin};
  kept.insert(kept.end(), text.end() - 3, text.end());
  options.max_tokens = 5;
  const Completion rest = run(kept, options);
  for (size_t i = 0; i < rest.tokens.size(); ++i) EXPECT_EQ(rest.tokens[i].id, completion.tokens[5 + i].id) << i;
}

TEST_P(Complete, SlidingTextsDoNotDisturbOthers) {
  std::vector<CompletionRequest> requests;
  for (int i = 0; i < 4; ++i) {
    CompletionOptions options{.max_tokens = 25, .ignore_end = true, .seed = 9, .context = i % 2 ? 7 : 20};
    requests.push_back({.ids = prompt_, .options = options, .sample = static_cast<uint64_t>(i)});
  }
  const auto together = complete(model(), bytes_, requests);
  for (size_t i = 0; i < requests.size(); ++i)
    EXPECT_EQ(ids_of(complete(model(), bytes_, {&requests[i], 1}).at(0)), ids_of(together[i])) << i;
}

TEST_P(Complete, RefusesPromptsThatDoNotFit) {
  EXPECT_THROW(run({}, greedy_), Error);
  EXPECT_THROW(run({9999}, greedy_), Error);
  const std::vector<int32_t> longest(32, 'a');
  CompletionOptions options = greedy_;
  EXPECT_NO_THROW(run(longest, options));
  try {
    run(std::vector<int32_t>(33, 'a'), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("33 tokens"), std::string::npos) << error.what();
  }
  options.max_tokens = 0;
  EXPECT_THROW(run(prompt_, options), Error);
}

// The same log-probabilities as scoring the text that came out.
TEST_P(Complete, AgreesWithScore) {
  const Completion completion = run(prompt_, {.max_tokens = 15, .ignore_end = true, .seed = 3});
  std::vector<int32_t> text = prompt_;
  for (const int32_t id : ids_of(completion)) text.push_back(id);
  const TextScore score = score_texts(model(), {&text, 1}).at(0);
  for (size_t i = 0; i < completion.tokens.size(); ++i)
    EXPECT_NEAR(completion.tokens[i].log_probability, score.tokens[i + prompt_.size() - 1].log_probability, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Models, Complete, testing::Values("gpt2", "llama"),
                         [](const testing::TestParamInfo<std::string>& test) { return test.param; });

// Ids beyond the tokenizer's have no text and are never drawn.
TEST(CompleteModels, UnusedIdsAreNeverDrawn) {
  const SmallModel small = byte_model("gpt2", 300);
  const ByteTokenizer bytes;
  CompletionRequest request{.ids = {'a'}, .options = {.max_tokens = 200, .ignore_end = true, .seed = 8}};
  request.options.sampling.temperature = 5;
  for (const int32_t id : ids_of(complete(*small.model, bytes, {&request, 1}).at(0))) EXPECT_LT(id, 260);
}

// Encoder-decoder models: a drawn target begins with the prefix, and its log-probability is that of the full pass.
TEST(CompleteModels, TargetsAreDrawnForSources) {
  class Numbers : public ByteTokenizer {
    int64_t size() const override { return 23; }
    SpecialIds special() const override { return {.end = kSmallEnd}; }
  };
  const Numbers tokenizer;
  int64_t ended = 0;
  for (const std::string name : {"marian", "pegasus", "gru_attention", "lstm"}) {
    const SmallModel small = small_translator(name);
    const auto sources = small_sources(5, 23);
    std::vector<CompletionRequest> requests;
    for (const auto& source : sources)
      requests.push_back(
          {.ids = source, .prefix = {7, 9}, .options = {.max_tokens = 25, .seed = 6}, .sample = requests.size()});
    const auto results = complete(*small.model, tokenizer, requests, {.max_batch = 2});
    for (size_t i = 0; i < sources.size(); ++i) {
      const std::vector<int32_t> ids = ids_of(results[i]);
      ASSERT_GE(ids.size(), 2u);
      EXPECT_EQ(ids[0], 7);
      EXPECT_EQ(ids[1], 9);
      EXPECT_EQ(ids_of(complete(*small.model, tokenizer, {&requests[i], 1}).at(0)), ids);
      if (results[i].finish_reason != FinishReason::end_token) continue;
      ++ended;
      EXPECT_NEAR(results[i].log_probability, full_log_probability(*small.model, sources[i], ids), 1e-3) << name;
    }
  }
  EXPECT_GT(ended, 0);
}

}  // namespace
}  // namespace limpid
