#include "inference/score.h"

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "inference/sampling.h"
#include "inference/small_translators.h"

namespace limpid {
namespace {

class Score : public testing::Test {
 protected:
  void SetUp() override { set_threads(1); }
  void TearDown() override { set_threads(0); }
};

std::vector<std::vector<int32_t>> random_texts(std::initializer_list<int> lengths) {
  Random random(7);
  return random_rows(random, lengths, 23);
}

TEST_F(Score, TokensAreThoseOfTheFullPass) {
  const SmallModel small = small_model(small_configs().at("llama"));
  const auto texts = random_texts({5, 12, 2});
  const auto scores = score_texts(*small.model, texts, {.top = 2, .max_batch_tokens = 8});
  for (size_t i = 0; i < texts.size(); ++i) {
    limpid::Run run({});
    const Tensor logits = small.model->logits(run, Batch::next_tokens({texts[i]}));
    ASSERT_EQ(static_cast<int64_t>(scores[i].tokens.size()), logits.rows());
    double sum = 0;
    for (int64_t t = 0; t < logits.rows(); ++t) {
      const ScoredToken& token = scores[i].tokens[t];
      const std::span<const real> row(logits.values().row(t), 23);
      EXPECT_EQ(token.id, texts[i][t + 1]);
      EXPECT_NEAR(token.log_probability, static_cast<double>(row[token.id]) - log_sum_of_exp(row), 1e-5);
      int64_t better = 0;
      for (const real x : row) better += x > row[token.id];
      EXPECT_EQ(token.rank, better + 1);
      ASSERT_EQ(token.top.size(), 2u);
      EXPECT_EQ(token.rank == 1, token.top[0].id == token.id);
      sum += token.log_probability;
    }
    EXPECT_DOUBLE_EQ(scores[i].log_probability, sum);
  }
}

TEST_F(Score, ATextOfOneTokenHasNothingToScore) {
  const SmallModel small = small_model(small_configs().at("gpt2"));
  const std::vector<std::vector<int32_t>> texts = {{4}, {}, {4, 5}};
  const auto scores = score_texts(*small.model, texts);
  EXPECT_TRUE(scores[0].tokens.empty());
  EXPECT_TRUE(scores[1].tokens.empty());
  EXPECT_EQ(scores[2].tokens.size(), 1u);
}

// Each token once, in order, with at least half a context before it and as that window alone says.
TEST_F(Score, LongTextsAreReadInWindows) {
  const SmallModel small = small_model(small_configs().at("gpt2"));
  const auto texts = random_texts({75});
  const TextScore score = score_texts(*small.model, texts).at(0);
  ASSERT_EQ(score.tokens.size(), 74u);
  for (size_t t = 0; t < 74; ++t) EXPECT_EQ(score.tokens[t].id, texts[0][t + 1]) << t;
  const std::vector<int32_t> second(texts[0].begin() + 16, texts[0].begin() + 16 + 33);
  const TextScore alone = score_texts(*small.model, {&second, 1}).at(0);
  for (size_t t = 32; t < 48; ++t)
    EXPECT_NEAR(score.tokens[t].log_probability, alone.tokens[t - 16].log_probability, 1e-5) << t;
}

TEST_F(Score, PairsAreThoseOfTheFullPass) {
  for (const std::string& name : small_translator_names()) {
    const SmallModel small = small_translator(name);
    const auto sources = small_sources(4, 23), targets = small_sources(4, 23, 8);
    const auto scores = score_pairs(*small.model, sources, targets, {.max_batch_tokens = 10});
    for (size_t i = 0; i < sources.size(); ++i) {
      const std::vector<int32_t> target(targets[i].begin(), targets[i].end() - 1);
      EXPECT_NEAR(scores[i].log_probability, full_log_probability(*small.model, sources[i], target), 1e-4) << name;
      ASSERT_EQ(scores[i].tokens.size(), targets[i].size());
      EXPECT_EQ(scores[i].tokens.back().id, kSmallEnd);
    }
  }
}

TEST_F(Score, RefusesWhatDoesNotFit) {
  const SmallModel translator = small_translator("marian"), writer = small_model(small_configs().at("gpt2"));
  const std::vector<std::vector<int32_t>> texts = {{4, 5}}, wrong = {{4, 23}}, longer = {std::vector<int32_t>(40, 3)};
  EXPECT_THROW(score_texts(*translator.model, texts), Error);
  EXPECT_THROW(score_pairs(*writer.model, texts, texts), Error);
  EXPECT_THROW(score_texts(*writer.model, wrong), Error);
  EXPECT_THROW(score_pairs(*translator.model, texts, longer), Error);
  EXPECT_THROW(score_texts(*writer.model, texts, {.context = 64}), Error);
}

}  // namespace
}  // namespace limpid
