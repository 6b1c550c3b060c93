#include "experiments/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace limpid {
namespace {

using Values = std::vector<double>;

TEST(ExperimentStatistics, MeanAndDeviation) {
  EXPECT_DOUBLE_EQ(mean(Values{1, 2, 6}), 3);
  EXPECT_DOUBLE_EQ(standard_deviation(Values{2, 4, 4, 4, 5, 5, 7, 9}), std::sqrt(32.0 / 7));
  EXPECT_EQ(standard_deviation(Values{5}), 0);
}

TEST(ExperimentStatistics, SpearmanIsTheCorrelationOfRanks) {
  EXPECT_DOUBLE_EQ(spearman(Values{1, 10, 100}, Values{-3, 0, 0.5}), 1);
  EXPECT_DOUBLE_EQ(spearman(Values{1, 10, 100}, Values{3, 2, 1}), -1);
  // SciPy 1.11: spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7])
  EXPECT_NEAR(spearman(Values{1, 2, 3, 4, 5}, Values{5, 6, 7, 8, 7}), 0.8207826816681233, 1e-12);
  EXPECT_EQ(spearman(Values{1, 1, 1}, Values{1, 2, 3}), 0);
}

TEST(ExperimentStatistics, Exceedance) {
  EXPECT_DOUBLE_EQ(exceedance(Values{2, 3}, Values{1, 0}), 1);
  EXPECT_DOUBLE_EQ(exceedance(Values{1, 2}, Values{1, 2}), 0.5);
  EXPECT_DOUBLE_EQ(exceedance(Values{1}, Values{0, 1, 2, 3}), 0.375);
}

TEST(ExperimentStatistics, ChiSquareAgainstTables) {
  // Two cells: χ² = (60 - 50)²/50·2 = 4 with one degree of freedom; a table says 0.0455.
  EXPECT_NEAR(chi_square_p(Values{60, 40}, Values{0.5, 0.5}), 0.04550026389635842, 1e-10);
  EXPECT_NEAR(chi_square_p(Values{100, 100, 100, 100, 100, 100}, Values(6, 1.0 / 6)), 1, 1e-12);
  EXPECT_LT(chi_square_p(Values{600, 400}, Values{0.5, 0.5}), 1e-9);
}

TEST(ExperimentStatistics, CellsThatExpectTooLittleAreJoined) {
  // Ten cells that expect one each count as one cell that expects ten.
  Values counts(11, 1), probabilities(11, 0.01);
  counts[0] = 90;
  probabilities[0] = 0.9;
  EXPECT_NEAR(chi_square_p(counts, probabilities), 1, 1e-12);
  EXPECT_EQ(chi_square_p(Values{80, 20}, Values{1 - 1e-9, 1e-9}), 0);
}

}  // namespace
}  // namespace limpid
