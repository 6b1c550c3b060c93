#include "scoring/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"

namespace limpid {
namespace {

constexpr uint64_t kBootstrapPlace = 1, kRandomizationPlace = 2;

void check_draws(const SentenceStatistics& statistics, const DrawOptions& options) {
  check(statistics.sentences() > 0, "[score] there are no sentences to draw from: score a text first");
  check(options.draws > 0, "[score] {} draws: give at least 1", options.draws);
}

void add(std::span<const int64_t> row, std::vector<int64_t>& sums) {
  for (size_t k = 0; k < row.size(); ++k) sums[k] += row[k];
}

double mean(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

// Draws as great as the real difference count too (sacreBLEU takes only greater ones, and so finds a system different
// from itself). One is added to both numbers, so that chance is never ruled out by too few draws.
double p_value(std::span<const double> draws, double real_difference) {
  const auto as_great = std::ranges::count_if(draws, [&](double draw) { return draw >= real_difference; });
  return static_cast<double>(as_great + 1) / static_cast<double>(draws.size() + 1);
}

// The difference of two systems that got their sentences from a and b by a coin each.
double mixed_difference(const SentenceStatistics& a, const SentenceStatistics& b, const ScoreOfSums& score,
                        Random random) {
  std::vector<int64_t> one(static_cast<size_t>(a.width)), other(one);
  uint64_t coins = 0;
  for (int64_t i = 0; i < a.sentences(); ++i) {
    if (i % 64 == 0) coins = random.bits();
    const bool swap = (coins >> (i % 64) & 1) != 0;
    add(a.of(i), swap ? other : one);
    add(b.of(i), swap ? one : other);
  }
  return std::abs(score(one) - score(other));
}

}  // namespace

std::vector<double> bootstrap_scores(const SentenceStatistics& statistics, const ScoreOfSums& score,
                                     const DrawOptions& options) {
  check_draws(statistics, options);
  std::vector<double> scores(static_cast<size_t>(options.draws));
  parallel_for(options.draws, [&](int64_t draw) {
    Random random(random_key(options.seed, static_cast<uint64_t>(draw), kBootstrapPlace));
    std::vector<int64_t> sums(static_cast<size_t>(statistics.width));
    const int64_t sentences = statistics.sentences();
    for (int64_t i = 0; i < sentences; ++i) add(statistics.of(random.below(sentences)), sums);
    scores[static_cast<size_t>(draw)] = score(sums);
  });
  return scores;
}

ConfidenceInterval confidence_interval(std::vector<double> scores) {
  check(!scores.empty(), "[score] an interval of no scores: draw some first");
  std::ranges::sort(scores);
  const size_t cut = scores.size() / 40;  // 2.5 % on either side
  return {.mean = mean(scores), .half_width = 0.5 * (scores[scores.size() - cut - 1] - scores[cut])};
}

double paired_bootstrap_p(std::span<const double> draws_a, std::span<const double> draws_b, double real_difference) {
  check(draws_a.size() == draws_b.size() && !draws_a.empty(),
        "[score] {} draws of one system and {} of the other: draw both with the same options", draws_a.size(),
        draws_b.size());
  std::vector<double> differences(draws_a.size());
  for (size_t i = 0; i < differences.size(); ++i) differences[i] = std::abs(draws_a[i] - draws_b[i]);
  const double centre = mean(differences);
  for (double& difference : differences) difference -= centre;
  return p_value(differences, std::abs(real_difference));
}

double paired_randomization_p(const SentenceStatistics& a, const SentenceStatistics& b, const ScoreOfSums& score,
                              const DrawOptions& options) {
  check_draws(a, options);
  check(a.width == b.width && a.counts.size() == b.counts.size(),
        "[score] systems of {} and {} sentences: compare translations of the same text by the same metric",
        a.sentences(), b.sentences());
  std::vector<double> differences(static_cast<size_t>(options.draws));
  parallel_for(options.draws, [&](int64_t draw) {
    const Random random(random_key(options.seed, static_cast<uint64_t>(draw), kRandomizationPlace));
    differences[static_cast<size_t>(draw)] = mixed_difference(a, b, score, random);
  });
  return p_value(differences, std::abs(score(sum(a)) - score(sum(b))));
}

}  // namespace limpid
