#include "inference/token_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/parallel.h"
#include "inference/byte_tokenizer.h"
#include "inference/complete.h"
#include "inference/generate.h"
#include "inference/small_translators.h"

namespace limpid {
namespace {

using testing::ElementsAre;
using Ids = std::vector<int32_t>;

// Of six tokens those that may come next.
std::vector<int> allowed(const TokenRules& rules, const Ids& history, int64_t written, bool last = false) {
  std::vector<real> scores = {5, -1, 0, 3, -2, 1};
  apply_token_rules(rules, {history, written, last}, scores);
  std::vector<int> ids;
  for (size_t i = 0; i < scores.size(); ++i)
    if (std::isfinite(scores[i])) ids.push_back(static_cast<int>(i));
  return ids;
}

TEST(TokenRules, TokensAreForbiddenAndForced) {
  const TokenRules rules{
      .bad_words = {{5}, {1, 2}, {3, 3, 4}}, .suppressed = {0}, .suppressed_first = {1}, .forced_last = 2};
  EXPECT_THAT(allowed(rules, {}, 0), ElementsAre(2, 3, 4));
  EXPECT_THAT(allowed(rules, {3}, 1), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(allowed(rules, {3, 1}, 2), ElementsAre(1, 3, 4));
  EXPECT_THAT(allowed(rules, {3, 3}, 2), ElementsAre(1, 2, 3));
  EXPECT_THAT(allowed(rules, {3}, 1, true), ElementsAre(2));
  // A prompt counts for sequences, not for what is said of the first token.
  EXPECT_THAT(allowed(rules, {3, 1}, 0), ElementsAre(3, 4));
  // What is forced comes even where it is forbidden too, so that something comes.
  EXPECT_THAT(allowed({.suppressed = {4}, .forced_first = 4}, {}, 0), ElementsAre(4));
  EXPECT_THAT(allowed({}, {}, 0), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_FALSE(TokenRules{}.any());
  EXPECT_THAT(allowed({.ends = {2, 3}, .least_tokens = 2}, {1}, 1), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(allowed({.ends = {2, 3}, .least_tokens = 2}, {1, 1}, 2), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(TokenRules, SequencesAreNotRepeated) {
  EXPECT_THAT(allowed({.no_repeat_ngram = 1}, {1, 4}, 2), ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(allowed({.no_repeat_ngram = 2}, {1, 4, 2, 1}, 4), ElementsAre(0, 1, 2, 3, 5));
  EXPECT_THAT(allowed({.no_repeat_ngram = 3}, {1, 4, 2, 1, 4}, 5), ElementsAre(0, 1, 3, 4, 5));
  EXPECT_THAT(allowed({.no_repeat_ngram = 3}, {1, 4}, 2), ElementsAre(0, 1, 2, 3, 4, 5));
}

class TranslateRules : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    set_threads(1);
    small_ = small_translator(GetParam());
    sources_ = small_sources(8, 23);
  }
  void TearDown() override { set_threads(0); }
  std::vector<std::vector<Hypothesis>> run(GenerateOptions options) const {
    options.max_tokens = 9;
    return translate(*small_.model, sources_, options);
  }

  SmallModel small_;
  std::vector<Ids> sources_;
};

bool has_sequence(const Ids& ids, const Ids& word) {
  return std::search(ids.begin(), ids.end(), word.begin(), word.end()) != ids.end();
}

TEST_P(TranslateRules, BadWordsAreNotWritten) {
  for (const int64_t beam : {1, 3}) {
    const auto free = run({.beam = beam, .rules = {.least_tokens = 3}});
    const Ids& model = free[0][0].ids;
    ASSERT_GE(model.size(), 3u);
    const TokenRules rules{.bad_words = {{model[0]}, {model[1], model[2]}}, .least_tokens = 3};
    const auto ruled = run({.beam = beam, .n_best = beam, .rules = rules});
    for (size_t i = 0; i < ruled.size(); ++i)
      for (const Hypothesis& hypothesis : ruled[i]) {
        for (const Ids& word : rules.bad_words) EXPECT_FALSE(has_sequence(hypothesis.ids, word));
        // What is forbidden takes nothing from the probability of what is written.
        const double full = full_log_probability(*small_.model, sources_[i], hypothesis.ids, hypothesis.ids.size() < 9);
        EXPECT_NEAR(hypothesis.log_probability, full, 1e-4 * (1 + std::abs(full)));
      }
  }
}

TEST_P(TranslateRules, NothingIsRepeatedWhereThatIsForbidden) {
  for (const auto& hypotheses : run({.beam = 3, .n_best = 3, .rules = {.no_repeat_ngram = 2}}))
    for (const Hypothesis& hypothesis : hypotheses)
      for (size_t i = 0; i + 2 < hypothesis.ids.size(); ++i) {
        const Ids pair(hypothesis.ids.begin() + static_cast<ptrdiff_t>(i),
                       hypothesis.ids.begin() + static_cast<ptrdiff_t>(i) + 2);
        EXPECT_FALSE(
            has_sequence({hypothesis.ids.begin() + static_cast<ptrdiff_t>(i) + 1, hypothesis.ids.end()}, pair));
      }
}

TEST_P(TranslateRules, TheFirstTokenIsForcedAndTheTextHasItsLeastLength) {
  const TokenRules rules{.forced_first = 7, .least_tokens = 4};
  for (const auto& hypotheses : run({.beam = 2, .rules = rules})) {
    ASSERT_GE(hypotheses.at(0).ids.size(), 4u);
    EXPECT_EQ(hypotheses[0].ids[0], 7);
  }
}

TEST_P(TranslateRules, APenaltyMakesRepetitionsRarer) {
  const auto repeated = [&](double penalty) {
    size_t count = 0;
    for (const auto& hypotheses : run({.beam = 1, .repetition_penalty = penalty, .rules = {.least_tokens = 9}})) {
      const Ids& ids = hypotheses.at(0).ids;
      count += ids.size() - std::set<int32_t>(ids.begin(), ids.end()).size();
    }
    return count;
  };
  ASSERT_GT(repeated(1), 0u);
  EXPECT_LT(repeated(3), repeated(1));
}

// Everything but the end may be forbidden: a text comes out all the same.
TEST_P(TranslateRules, WhereNothingIsAllowedTheTextEnds) {
  TokenRules rules;
  for (int32_t id = 0; id < 23; ++id) rules.suppressed.push_back(id);
  for (const auto& hypotheses : run({.beam = 2, .rules = rules})) {
    ASSERT_EQ(hypotheses.size(), 1u);
    EXPECT_TRUE(hypotheses[0].ids.empty());
    EXPECT_TRUE(std::isfinite(hypotheses[0].log_probability));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TranslateRules, testing::Values("marian", "pegasus", "lstm_attention"),
                         [](const testing::TestParamInfo<std::string>& test) { return test.param; });

TEST(CompleteRules, HoldForDrawnTexts) {
  nlohmann::ordered_json json = small_configs().at("llama");
  json["vocab_size"] = 260;
  json["eos_token_id"] = ByteTokenizer::kEnd;
  const SmallModel small = small_model(json);
  const ByteTokenizer bytes;
  const auto run = [&](const TokenRules& rules) {
    CompletionRequest request{.ids = {'a', 'b', 'a'}, .options = {.sampling = {.temperature = 0}, .max_tokens = 20}};
    for (const int32_t id : {ByteTokenizer::kBegin, ByteTokenizer::kEnd, ByteTokenizer::kMask})
      request.options.sampling.bias.emplace_back(id, -100);
    request.options.sampling.bias.insert(request.options.sampling.bias.end(), {{'a', 30}, {'b', 25}});
    request.options.rules = rules;
    const Completion completion = complete(*small.model, bytes, {&request, 1}).at(0);
    std::string text;
    for (const GeneratedToken& token : completion.tokens) text += static_cast<char>(token.id);
    return text;
  };
  EXPECT_EQ(run({}), std::string(20, 'a'));
  EXPECT_EQ(run({.bad_words = {{'a', 'a'}}}), "babababababababababa");  // the prompt ends with a
  EXPECT_EQ(run({.suppressed = {'a'}}), std::string(20, 'b'));
  EXPECT_EQ(run({.suppressed_first = {'a'}}), "b" + std::string(19, 'a'));
  EXPECT_EQ(run({.forced_last = 'z'}), std::string(19, 'a') + "z");
  EXPECT_EQ(run({.ends = {'a'}}), "");
  const std::string different = run({.no_repeat_ngram = 1});
  EXPECT_EQ(std::set<char>(different.begin(), different.end()).size(), 20u);
  EXPECT_EQ(different.find_first_of("ab"), std::string::npos);
}

}  // namespace
}  // namespace limpid
