#pragma once
// How far a score can be trusted: intervals and tests by drawing from the sentences again and again. The formulas are
// sacreBLEU's; the draws are our own and the same with any number of threads, so digits beyond the noise differ.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "scoring/statistics.h"

namespace limpid {

using ScoreOfSums = std::function<double(std::span<const int64_t>)>;  // called from several threads at once

struct DrawOptions {
  int64_t draws = 1000;
  uint64_t seed = 12345;
};

struct ConfidenceInterval {
  double mean = 0;        // of the draws
  double half_width = 0;  // of the 95 % in their middle
};

// Scores of texts of the same length whose sentences are drawn with replacement (Koehn 2004). Draw k takes the same
// sentences in every text of that length, so the scores of two systems are paired.
std::vector<double> bootstrap_scores(const SentenceStatistics& statistics, const ScoreOfSums& score,
                                     const DrawOptions& options = {});

ConfidenceInterval confidence_interval(std::vector<double> scores);

// The probability of so great a difference between two systems that are equally good: small (below 0.05, say) means
// that the difference is hardly chance. Two-sided; at least 1 / (draws + 1).

// Paired bootstrap: how often differences of the draws exceed their mean by as much as the real one exceeds 0.
double paired_bootstrap_p(std::span<const double> draws_a, std::span<const double> draws_b, double real_difference);

// Approximate randomisation (Riezler & Maxwell 2005): how often systems that were mixed by a coin for each sentence
// differ by as much as the real ones.
double paired_randomization_p(const SentenceStatistics& a, const SentenceStatistics& b, const ScoreOfSums& score,
                              const DrawOptions& options = {.draws = 10000});

}  // namespace limpid
