#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/random_cases.h"
#include "inference/generate.h"
#include "inference/small_translators.h"

namespace limpid {
namespace {

using Results = std::vector<std::vector<Hypothesis>>;

class Translate : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    set_threads(1);  // models this small are not worth sharing out
    small_ = small_translator(GetParam());
  }
  void TearDown() override { set_threads(0); }
  const Model& model() const { return *small_.model; }

  SmallModel small_;
};

void expect_same(const Results& a, const Results& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size()) << "text " << i;
    for (size_t j = 0; j < a[i].size(); ++j) {
      EXPECT_EQ(a[i][j].ids, b[i][j].ids) << "text " << i << " hypothesis " << j;
      EXPECT_NEAR(a[i][j].score, b[i][j].score, 1e-5) << "text " << i << " hypothesis " << j;
      EXPECT_NEAR(a[i][j].log_probability, b[i][j].log_probability, 1e-4) << "text " << i << " hypothesis " << j;
    }
  }
}

// The likeliest allowed token by the full pass, over and over.
std::vector<int32_t> greedy(const Model& model, const std::vector<int32_t>& source, int64_t max_tokens) {
  const Config& config = model.config();
  const auto start = static_cast<int32_t>(*config.decoder_start_token);
  std::vector<int32_t> ids;
  while (static_cast<int64_t>(ids.size()) < max_tokens) {
    std::vector<int32_t> target = ids;
    target.push_back(kSmallEnd);
    limpid::Run run({});
    const Tensor logits = model.logits(run, Batch::pairs({source}, {target}, start));
    const real* row = logits.values().row(logits.rows() - 1);
    int32_t best = kSmallEnd;
    for (int32_t id = 0; id < config.vocab; ++id)
      if (id != start && id != *config.pad_token && row[id] > row[best]) best = id;
    if (best == kSmallEnd) break;
    ids.push_back(best);
  }
  return ids;
}

TEST_P(Translate, WhoNeedsNoScoresGetsTheSameTexts) {
  const auto sources = small_sources(12, model().config().vocab);
  for (const int64_t beam : {1, 3}) {
    const GenerateOptions with{.beam = beam, .max_tokens = 9, .rules = {.least_tokens = 2}};
    GenerateOptions without = with;
    without.scores = false;
    const Results a = translate(model(), sources, with), b = translate(model(), sources, without);
    for (size_t i = 0; i < sources.size(); ++i) {
      EXPECT_EQ(a[i][0].ids, b[i][0].ids);
      EXPECT_FALSE(std::isnan(a[i][0].score));
      EXPECT_EQ(std::isnan(b[i][0].score), beam == 1);
    }
  }
}

TEST_P(Translate, BeamOfOneIsGreedy) {
  const auto sources = small_sources(12, model().config().vocab);
  const Results results = translate(model(), sources, {.beam = 1, .max_tokens = 8, .max_batch = 5});
  for (size_t i = 0; i < sources.size(); ++i) {
    ASSERT_EQ(results[i].size(), 1u);
    EXPECT_EQ(results[i].front().ids, greedy(model(), sources[i], 8)) << "text " << i;
  }
}

// A forced prefix begins every hypothesis, counts for its log-probability, and what greedy search wrote anyway changes
// nothing.
TEST_P(Translate, PrefixesAreForced) {
  const auto sources = small_sources(9, model().config().vocab);
  GenerateOptions options{.beam = 3, .n_best = 2, .max_tokens = 7, .max_batch = 4, .prefixes = {{5, 4, 5}}};
  for (const auto& hypotheses : translate(model(), sources, options))
    for (const Hypothesis& hypothesis : hypotheses) {
      ASSERT_GE(hypothesis.ids.size(), 3u);
      EXPECT_EQ(std::vector<int32_t>(hypothesis.ids.begin(), hypothesis.ids.begin() + 3), options.prefixes[0]);
    }
  const Results forced = translate(model(), sources, options);
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto& ids = forced[i][0].ids;
    const double sum = full_log_probability(model(), sources[i], ids, ids.size() < 7);
    EXPECT_NEAR(forced[i][0].log_probability, sum, 1e-4 * (1 + std::abs(sum)));
  }
  const Results free = translate(model(), sources, {.beam = 1, .max_tokens = 7});
  options = {.beam = 1, .max_tokens = 7, .max_batch = 2};
  for (const auto& hypotheses : free) {
    const auto& ids = hypotheses[0].ids;
    options.prefixes.emplace_back(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(ids.size() / 2));
  }
  expect_same(translate(model(), sources, options), free);
  options.prefixes.pop_back();
  EXPECT_THROW(translate(model(), sources, options), Error);
}

TEST_P(Translate, LogProbabilitiesAreThoseOfTheFullPass) {
  const auto sources = small_sources(9, model().config().vocab);
  const GenerateOptions options{.beam = 3, .n_best = 3, .length_penalty = 0.6, .max_tokens = 7, .max_batch = 4};
  const Results results = translate(model(), sources, options);
  for (size_t i = 0; i < sources.size(); ++i) {
    for (const Hypothesis& hypothesis : results[i]) {
      const bool ends = hypothesis.ids.size() < 7;
      const double sum = full_log_probability(model(), sources[i], hypothesis.ids, ends);
      EXPECT_NEAR(hypothesis.log_probability, sum, 1e-4 * (1 + std::abs(sum)));
      const auto length = static_cast<double>(hypothesis.ids.size() + (ends ? 1 : 0));
      EXPECT_DOUBLE_EQ(hypothesis.score, hypothesis.log_probability / std::pow(length, 0.6));
    }
  }
}

// All texts of at most `most` tokens.
std::vector<std::vector<int32_t>> all_texts(const Config& config, size_t most) {
  std::vector<std::vector<int32_t>> texts{{}};
  for (size_t i = 0; i < texts.size() && texts[i].size() < most; ++i) {
    for (int32_t id = 0; id < config.vocab; ++id) {
      if (id == kSmallEnd || id == *config.pad_token || id == *config.decoder_start_token) continue;
      texts.push_back(texts[i]);
      texts.back().push_back(id);
    }
  }
  return texts;
}

// Every text that can be written, the best first.
std::vector<Hypothesis> all_hypotheses(const Model& model, const std::vector<int32_t>& source, size_t most,
                                       double penalty) {
  std::vector<Hypothesis> all;
  for (const auto& ids : all_texts(model.config(), most)) {
    const bool ends = ids.size() < most;
    const double sum = full_log_probability(model, source, ids, ends);
    all.push_back({ids, sum, sum / std::pow(static_cast<double>(ids.size() + (ends ? 1 : 0)), penalty)});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  return all;
}

// A beam as wide as there are texts is an exhaustive search; one that prunes finds some of these texts, with their
// scores, and nothing better.
TEST_P(Translate, ABeamThatHoldsAllFindsTheBestOfAll) {
  constexpr double kPenalties[] = {1.2, 0, 0.6, -0.5};
  for (int64_t number = 0; number < random_cases(4); ++number) {
    const SmallModel tiny = small_translator(GetParam(), 6, 3 + static_cast<uint64_t>(number));
    const auto sources = small_sources(2, 6, 5 + static_cast<uint64_t>(number));
    GenerateOptions options{.beam = 100, .n_best = 10, .length_penalty = kPenalties[number % 4], .max_tokens = 3};
    SCOPED_TRACE(testing::Message() << "case " << number << ", penalty " << options.length_penalty);
    std::vector<std::vector<Hypothesis>> all;
    for (const auto& source : sources) all.push_back(all_hypotheses(*tiny.model, source, 3, options.length_penalty));
    const Results results = translate(*tiny.model, sources, options);
    for (size_t i = 0; i < sources.size(); ++i) {
      ASSERT_EQ(results[i].size(), 10u);
      for (size_t j = 0; j < 10; ++j) {
        EXPECT_EQ(results[i][j].ids, all[i][j].ids) << "text " << i << " hypothesis " << j;
        EXPECT_NEAR(results[i][j].score, all[i][j].score, 1e-4);
      }
    }
    for (const int64_t beam : {1, 2, 3, 5}) {
      options.beam = options.n_best = beam;
      const Results pruned = translate(*tiny.model, sources, options);
      for (size_t i = 0; i < sources.size(); ++i)
        for (const Hypothesis& one : pruned[i]) {
          const auto found =
              std::find_if(all[i].begin(), all[i].end(), [&](const auto& h) { return h.ids == one.ids; });
          ASSERT_NE(found, all[i].end()) << "beam " << beam;
          EXPECT_NEAR(one.score, found->score, 1e-4);
          EXPECT_LE(one.score, all[i][0].score + 1e-4);
        }
    }
    if (HasFailure()) return;
  }
}

TEST_P(Translate, AloneEqualsInABatch) {
  const auto sources = small_sources(20, model().config().vocab);
  for (const int64_t beam : {1, 4}) {
    const GenerateOptions options{.beam = beam, .n_best = beam, .max_tokens = 9, .max_batch = 7};
    Results alone;
    for (const auto& source : sources) alone.push_back(translate(model(), {&source, 1}, options).front());
    expect_same(translate(model(), sources, options), alone);
  }
}

TEST_P(Translate, AnyNumberOfThreadsSameBits) {
  const auto sources = small_sources(10, model().config().vocab);
  const GenerateOptions options{.beam = 2, .max_tokens = 6};
  const Results one = translate(model(), sources, options);
  set_threads(3);
  const Results three = translate(model(), sources, options);
  for (size_t i = 0; i < sources.size(); ++i) EXPECT_EQ(one[i][0].log_probability, three[i][0].log_probability);
}

TEST_P(Translate, HypothesesAreSortedDifferentAndWithinTheirLength) {
  const auto sources = small_sources(10, model().config().vocab);
  const Results results = translate(model(), sources, {.beam = 5, .n_best = 5, .max_tokens = 4});
  for (const auto& hypotheses : results) {
    EXPECT_EQ(hypotheses.size(), 5u);
    for (size_t j = 0; j < hypotheses.size(); ++j) {
      EXPECT_LE(hypotheses[j].ids.size(), 4u);
      for (int32_t id : hypotheses[j].ids) {
        EXPECT_NE(id, kSmallEnd);
        EXPECT_NE(id, *model().config().pad_token);
        EXPECT_NE(id, *model().config().decoder_start_token);
      }
      if (j == 0) continue;
      EXPECT_LE(hypotheses[j].score, hypotheses[j - 1].score);
      EXPECT_NE(hypotheses[j].ids, hypotheses[j - 1].ids);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Translate, testing::ValuesIn(small_translator_names()), config_of_test);

std::string error_of(const Model& model, const std::vector<std::vector<int32_t>>& sources,
                     const GenerateOptions& options) {
  try {
    translate(model, sources, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(TranslateErrors, SayWhatIsWrong) {
  const SmallModel good = small_translator("marian");
  const SmallModel writer = small_model(small_configs().at("gpt2"));
  const SmallModel endless = small_model(small_configs().at("gru"));
  const std::vector<std::vector<int32_t>> sources{{3, kSmallEnd}};
  EXPECT_NE(error_of(*writer.model, sources, {}).find("does not translate"), std::string::npos);
  EXPECT_NE(error_of(*endless.model, sources, {}).find("eos_token_id"), std::string::npos);
  EXPECT_NE(error_of(*good.model, {{}}, {}).find("without tokens"), std::string::npos);
  EXPECT_NE(error_of(*good.model, sources, {.beam = 0}).find("beam of 0"), std::string::npos);
  EXPECT_NE(error_of(*good.model, sources, {.beam = 2, .n_best = 3}).find("widen the beam"), std::string::npos);
  EXPECT_EQ(error_of(*good.model, sources, {}), "none");
  EXPECT_EQ(error_of(*good.model, {}, {}), "none");
}

// The table of positions has 32 rows; the start token takes one.
TEST(TranslateLimits, TheTableOfPositionsBoundsTheLength) {
  const SmallModel small = small_translator("marian");
  for (const auto& hypotheses : translate(*small.model, small_sources(6, 23), {.beam = 2, .max_tokens = 1000}))
    EXPECT_LE(hypotheses.front().ids.size(), 31u);
}

}  // namespace
}  // namespace limpid
