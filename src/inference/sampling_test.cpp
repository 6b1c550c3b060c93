#include "inference/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace limpid {
namespace {

const std::vector<real> kRow = {1, 3, 2, 0, -1, real(2.5)};  // from the likeliest: 1 5 2 0 3 4

std::vector<int32_t> ids(const std::vector<Candidate>& candidates) {
  std::vector<int32_t> result;
  for (const Candidate& candidate : candidates) result.push_back(candidate.id);
  return result;
}

// Softmax of some scores divided by the temperature.
std::vector<double> softmax(const std::vector<double>& scores, double temperature = 1) {
  std::vector<double> result;
  double sum = 0;
  for (const double x : scores) sum += std::exp(x / temperature);
  for (const double x : scores) result.push_back(std::exp(x / temperature) / sum);
  return result;
}

void expect_probabilities(const std::vector<Candidate>& candidates, const std::vector<double>& expected) {
  ASSERT_EQ(candidates.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(candidates[i].probability, expected[i], 1e-6) << i;
}

TEST(Sampling, WithoutOptionsIsTheSoftmax) {
  expect_probabilities(candidates(kRow, {}, {}), softmax({1, 3, 2, 0, -1, 2.5}));
  expect_probabilities(candidates(kRow, {}, {.temperature = 0.5}), softmax({1, 3, 2, 0, -1, 2.5}, 0.5));
}

TEST(Sampling, TemperatureZeroIsTheLikeliest) {
  EXPECT_EQ(ids(candidates(kRow, {}, {.temperature = 0})), std::vector<int32_t>{1});
  EXPECT_EQ(ids(candidates(kRow, {}, {.temperature = 0, .never = {1}})), std::vector<int32_t>{5});
  const std::vector<real> equal = {1, 4, 4};
  EXPECT_EQ(ids(candidates(equal, {}, {.temperature = 0})), std::vector<int32_t>{1});
}

TEST(Sampling, TopKKeepsTheLikeliest) {
  const auto three = candidates(kRow, {}, {.top_k = 3});
  EXPECT_EQ(ids(three), (std::vector<int32_t>{1, 5, 2}));
  expect_probabilities(three, softmax({3, 2.5, 2}));
  EXPECT_EQ(candidates(kRow, {}, {.top_k = 100}).size(), kRow.size());
  const std::vector<real> equal(5, 1);
  EXPECT_EQ(ids(candidates(equal, {}, {.top_k = 2})), (std::vector<int32_t>{0, 1}));
}

// Probabilities from the likeliest: 0.452, 0.274, 0.166, 0.061, 0.022, 0.008 (and so on by e).
TEST(Sampling, TopPKeepsTheOneThatReachesIt) {
  const std::vector<double> p = softmax({3, 2.5, 2, 1, 0, -1});
  EXPECT_EQ(candidates(kRow, {}, {.top_p = p[0] - 1e-6}).size(), 1u);
  EXPECT_EQ(candidates(kRow, {}, {.top_p = p[0] + 1e-6}).size(), 2u);
  EXPECT_EQ(candidates(kRow, {}, {.top_p = p[0] + p[1] + 1e-6}).size(), 3u);
  EXPECT_EQ(candidates(kRow, {}, {.top_p = 1e-9}).size(), 1u);
  expect_probabilities(candidates(kRow, {}, {.top_p = p[0] + 1e-6}), softmax({3, 2.5}));
}

TEST(Sampling, TopPCountsWhatTopKLeft) {
  const std::vector<double> p = softmax({3, 2.5, 2});
  EXPECT_EQ(candidates(kRow, {}, {.top_k = 3, .top_p = p[0] - 1e-6}).size(), 1u);
  EXPECT_EQ(candidates(kRow, {}, {.top_k = 3, .top_p = p[0] + 1e-6}).size(), 2u);
}

TEST(Sampling, MinPIsRelativeToTheLikeliest) {
  const double second = std::exp(-0.5);  // beside the likeliest
  EXPECT_EQ(candidates(kRow, {}, {.min_p = second + 1e-6}).size(), 1u);
  EXPECT_EQ(candidates(kRow, {}, {.min_p = second - 1e-6}).size(), 2u);
  EXPECT_EQ(candidates(kRow, {}, {.min_p = 1}).size(), 1u);
}

TEST(Sampling, TemperatureComesBeforeTheFiltersUnlessAskedOtherwise) {
  const double at_two = std::exp(-0.25);  // of the second beside the first, at temperature 2
  EXPECT_EQ(candidates(kRow, {}, {.temperature = 2, .min_p = at_two - 1e-6}).size(), 2u);
  const auto last = candidates(kRow, {}, {.temperature = 2, .min_p = at_two - 1e-6, .temperature_last = true});
  EXPECT_EQ(last.size(), 1u);
  const auto two = candidates(kRow, {}, {.temperature = 2, .top_p = 0.5, .temperature_last = true});
  expect_probabilities(two, softmax({3, 2.5}, 2));
}

TEST(Sampling, PenaltiesLookAtTheHistory) {
  const std::vector<int32_t> history = {1, 4, 4, 99, -1};
  expect_probabilities(candidates(kRow, history, {.repetition_penalty = 2}), softmax({1, 1.5, 2, 0, -2, 2.5}));
  expect_probabilities(candidates(kRow, history, {.frequency_penalty = 0.5}), softmax({1, 2.5, 2, 0, -2, 2.5}));
  expect_probabilities(candidates(kRow, history, {.presence_penalty = 0.5}), softmax({1, 2.5, 2, 0, -1.5, 2.5}));
  const auto window = candidates(kRow, history, {.frequency_penalty = 0.5, .penalty_window = 3});
  expect_probabilities(window, softmax({1, 3, 2, 0, -1.5, 2.5}));
}

TEST(Sampling, BiasAndForbiddenTokens) {
  expect_probabilities(candidates(kRow, {}, {.bias = {{0, 2}, {77, 5}}}), softmax({3, 3, 2, 0, -1, 2.5}));
  const auto allowed = candidates(kRow, {}, {.never = {1, 5}});
  EXPECT_EQ(allowed[1].probability, 0);
  EXPECT_EQ(allowed[5].probability, 0);
  EXPECT_THROW(candidates(kRow, {}, {.never = {0, 1, 2, 3, 4, 5}}), Error);
  EXPECT_EQ(candidates(kRow, {}, {.top_k = 6, .never = {1, 5}}).size(), 4u);
}

// Large vocabularies are sorted only as far as needed: the same as sorting all.
TEST(Sampling, LargeVocabulariesGiveWhatSortingGives) {
  Random random(3);
  std::vector<real> row(5000);
  for (real& x : row) x = static_cast<real>(random.below(200)) / 50;  // with many equals
  std::vector<int32_t> order(row.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
  const double log_sum = log_sum_of_exp(row);
  for (const double p : {0.001, 0.1, 0.5, 0.99}) {
    double sum = 0;
    size_t count = 0;
    while (sum < p) sum += std::exp(static_cast<double>(row[order[count++]]) - log_sum);
    const auto chosen = ids(candidates(row, {}, {.top_p = p}));
    EXPECT_EQ(chosen, std::vector<int32_t>(order.begin(), order.begin() + static_cast<ptrdiff_t>(count))) << p;
  }
  for (const int64_t k : {1, 64, 65, 700}) {
    const auto chosen = ids(candidates(row, {}, {.top_k = k}));
    EXPECT_EQ(chosen, std::vector<int32_t>(order.begin(), order.begin() + k)) << k;
    const auto top = likeliest(row, k, log_sum);
    ASSERT_EQ(static_cast<int64_t>(top.size()), k);
    EXPECT_EQ(top.back().id, order[k - 1]);
  }
}

// Pearson's statistic of so many draws against the distribution that the options ask for. Above its 99.9 % quantile one
// generator in a thousand would lie; the seed is fixed, so the test always gives the same.
double chi_square(const SamplingOptions& options, int64_t draws, double distortion = 0) {
  const auto tokens = candidates(kRow, {}, options);
  std::vector<int64_t> counts(kRow.size());
  for (int64_t i = 0; i < draws; ++i) {
    Random random(random_key(11, static_cast<uint64_t>(i), 0));
    const double uniform = std::min(random.uniform() * (1 - distortion), 0.999999);
    ++counts[static_cast<size_t>(draw(tokens, uniform).id)];
  }
  double result = 0;
  for (const Candidate& token : tokens) {
    const double expected = token.probability * static_cast<double>(draws);
    const double difference = static_cast<double>(counts[static_cast<size_t>(token.id)]) - expected;
    if (expected > 0) result += difference * difference / expected;
  }
  return result;
}

TEST(Sampling, DrawsFollowTheDistribution) {
  constexpr int64_t kDraws = 100000;
  constexpr double kFiveFree = 20.52, kTwoFree = 13.82;  // 99.9 % quantiles of χ² with 5 and 2 degrees of freedom
  EXPECT_LT(chi_square({}, kDraws), kFiveFree);
  EXPECT_LT(chi_square({.temperature = 1.7}, kDraws), kFiveFree);
  EXPECT_LT(chi_square({.top_k = 3}, kDraws), kTwoFree);
  EXPECT_GT(chi_square({}, kDraws, 0.01), kFiveFree);  // draws that are one percent off are found out
}

TEST(Sampling, DrawsAtTheBorders) {
  const std::vector<Candidate> tokens = {{7, 0}, {3, 0.25}, {5, 0.75}, {9, 0}};
  EXPECT_EQ(draw(tokens, 0).id, 3);
  EXPECT_EQ(draw(tokens, 0.2499).id, 3);
  EXPECT_EQ(draw(tokens, 0.25).id, 5);
  EXPECT_EQ(draw(tokens, 1).id, 5);  // never one without probability
}

TEST(Sampling, RefusesWhatCannotBeMeant) {
  EXPECT_THROW(check_sampling({.temperature = -1}), Error);
  EXPECT_THROW(check_sampling({.temperature = std::nan("")}), Error);
  EXPECT_THROW(check_sampling({.top_k = -1}), Error);
  EXPECT_THROW(check_sampling({.top_p = 0}), Error);
  EXPECT_THROW(check_sampling({.top_p = 1.5}), Error);
  EXPECT_THROW(check_sampling({.min_p = 2}), Error);
  EXPECT_THROW(check_sampling({.repetition_penalty = 0}), Error);
  EXPECT_NO_THROW(check_sampling({}));
  EXPECT_THROW(log_sum_of_exp(std::vector<real>{1, std::nanf("")}), Error);
}

// Without bias and penalties the likeliest is found without a list of all tokens: it is the same one.
TEST(Sampling, TheLikeliestIsTheSameByBothWays) {
  Random random(7);
  std::vector<real> logits(1000);
  for (real& score : logits) score = static_cast<real>(random.below(50));  // many are equal
  SamplingOptions plain;
  plain.temperature = 0;
  for (int round = 0; round < 15; ++round) {
    SamplingOptions listed = plain;
    listed.bias = {{3, 0}};
    const int32_t id = candidates(logits, {}, plain).at(0).id;
    EXPECT_EQ(id, candidates(logits, {}, listed).at(0).id);
    plain.never.push_back(id);
  }
}

}  // namespace
}  // namespace limpid
