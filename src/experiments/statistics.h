#pragma once
// The few statistics that experiments judge by.

#include <span>

namespace limpid {

double mean(std::span<const double> values);
// √(Σ(x - mean)²/(n - 1)); 0 of fewer than two.
double standard_deviation(std::span<const double> values);

// Spearman's rank correlation; equal values share the mean of their ranks. 0 where one side does not vary.
double spearman(std::span<const double> x, std::span<const double> y);

// The probability that a value of the first list exceeds one of the second, ties counted half: 0.5 where they are
// alike.
double exceedance(std::span<const double> first, std::span<const double> second);

// The probability of a χ² at least as large where the counts were drawn with these probabilities. Cells that expect
// fewer than five are joined.
double chi_square_p(std::span<const double> counts, std::span<const double> probabilities);

}  // namespace limpid
