#include "scoring/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"

namespace limpid {
namespace {

// A "score" that is the mean of one number per sentence: its sampling distribution is known.
double mean_of_sums(std::span<const int64_t> sums) {
  return static_cast<double>(sums[0]) / static_cast<double>(sums[1]);
}

SentenceStatistics numbers(int64_t count, uint64_t key, double shift = 0) {
  SentenceStatistics statistics{.width = 2};
  Random random(key);
  for (int64_t i = 0; i < count; ++i) {
    statistics.counts.push_back(std::lround(1000 * (random.normal() + shift)));
    statistics.counts.push_back(1);
  }
  return statistics;
}

double standard_error(const SentenceStatistics& statistics) {
  const auto count = static_cast<double>(statistics.sentences());
  const double mean = mean_of_sums(sum(statistics));
  double squares = 0;
  for (int64_t i = 0; i < statistics.sentences(); ++i)
    squares += std::pow(static_cast<double>(statistics.of(i)[0]) - mean, 2);
  return std::sqrt(squares) / count;
}

TEST(Bootstrap, IntervalOfAMeanIsTheOneOfTheory) {
  const SentenceStatistics statistics = numbers(400, 7);
  const ConfidenceInterval interval = confidence_interval(bootstrap_scores(statistics, mean_of_sums, {.draws = 4000}));
  const double error = standard_error(statistics);
  EXPECT_NEAR(interval.mean, mean_of_sums(sum(statistics)), 0.1 * error);
  EXPECT_NEAR(interval.half_width, 1.96 * error, 0.1 * error);
}

TEST(Bootstrap, IntervalOfKnownScores) {
  std::vector<double> scores(1000);
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<double>((i * 7) % 1000);  // 0 … 999, mixed
  const ConfidenceInterval interval = confidence_interval(scores);
  EXPECT_DOUBLE_EQ(interval.mean, 499.5);
  EXPECT_DOUBLE_EQ(interval.half_width, 0.5 * (974 - 25));
}

TEST(Bootstrap, DrawsDependOnTheSeedAlone) {
  const SentenceStatistics statistics = numbers(50, 3);
  const int before = threads();
  set_threads(1);
  const auto one_thread = bootstrap_scores(statistics, mean_of_sums, {.draws = 100});
  set_threads(3);
  const auto three_threads = bootstrap_scores(statistics, mean_of_sums, {.draws = 100});
  const auto other_seed = bootstrap_scores(statistics, mean_of_sums, {.draws = 100, .seed = 2});
  set_threads(before);
  EXPECT_EQ(one_thread, three_threads);
  EXPECT_NE(one_thread, other_seed);
}

TEST(Bootstrap, PairedBootstrapOfKnownDraws) {
  const std::vector<double> zeros(4, 0.0), draws = {1, -2, 3, 6};   // sizes 1 2 3 6, mean 3
  EXPECT_DOUBLE_EQ(paired_bootstrap_p(zeros, draws, 3), 2.0 / 5);   // 6 - 3 is as great as 3
  EXPECT_DOUBLE_EQ(paired_bootstrap_p(draws, zeros, -3), 2.0 / 5);  // two-sided
  EXPECT_DOUBLE_EQ(paired_bootstrap_p(zeros, draws, 3.5), 1.0 / 5);
  EXPECT_DOUBLE_EQ(paired_bootstrap_p(zeros, draws, 0), 3.0 / 5);
}

TEST(Bootstrap, ASystemDoesNotDifferFromItself) {
  const SentenceStatistics statistics = numbers(60, 5);
  const auto draws = bootstrap_scores(statistics, mean_of_sums, {.draws = 50});
  EXPECT_EQ(paired_bootstrap_p(draws, draws, 0), 1);
  EXPECT_EQ(paired_randomization_p(statistics, statistics, mean_of_sums, {.draws = 50}), 1);
}

TEST(Bootstrap, OneSentenceProvesNothing) {
  const SentenceStatistics a{.width = 2, .counts = {0, 1}}, b{.width = 2, .counts = {100, 1}};
  EXPECT_EQ(paired_randomization_p(a, b, mean_of_sums, {.draws = 50}), 1);
}

// Differences of independent samples of equal spread: normal, so the test must agree with the table of the normal
// distribution.
TEST(Bootstrap, RandomizationFindsTheProbabilityOfTheory) {
  for (const double shift : {0.0, 0.1, 0.15}) {
    const SentenceStatistics a = numbers(500, 11), b = numbers(500, 12, shift);
    double squares = 0;
    for (int64_t i = 0; i < a.sentences(); ++i) squares += std::pow(static_cast<double>(a.of(i)[0] - b.of(i)[0]), 2);
    const double error = std::sqrt(squares) / 500;
    const double difference = std::abs(mean_of_sums(sum(a)) - mean_of_sums(sum(b)));
    const double expected = std::erfc(difference / error / std::sqrt(2.0));
    EXPECT_NEAR(paired_randomization_p(a, b, mean_of_sums, {.draws = 4000}), expected, 0.03) << shift;
  }
}

TEST(Bootstrap, ClearDifferencesAreFoundByBoth) {
  const SentenceStatistics a = numbers(300, 21), b = numbers(300, 22, 1);
  const DrawOptions options{.draws = 500};
  const double difference = mean_of_sums(sum(b)) - mean_of_sums(sum(a));
  EXPECT_DOUBLE_EQ(paired_bootstrap_p(bootstrap_scores(a, mean_of_sums, options),
                                      bootstrap_scores(b, mean_of_sums, options), difference),
                   1.0 / 501);
  EXPECT_DOUBLE_EQ(paired_randomization_p(a, b, mean_of_sums, options), 1.0 / 501);
}

TEST(Bootstrap, RefusesWhatCannotBeDrawn) {
  const SentenceStatistics three = numbers(3, 1), four = numbers(4, 1), none{.width = 2};
  EXPECT_THROW(bootstrap_scores(none, mean_of_sums), Error);
  EXPECT_THROW(bootstrap_scores(three, mean_of_sums, {.draws = 0}), Error);
  EXPECT_THROW(paired_randomization_p(three, four, mean_of_sums), Error);
  EXPECT_THROW(paired_bootstrap_p(std::vector<double>{1}, std::vector<double>{1, 2}, 1), Error);
  EXPECT_THROW(confidence_interval({}), Error);
}

}  // namespace
}  // namespace limpid
