#include "experiments/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace limpid {
namespace {

std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
    begin = end;
  }
  return ranks;
}

// Q(a, x) = Γ(a, x)/Γ(a): by its series below a + 1, by Lentz's continued fraction above.
double upper_gamma(double a, double x) {
  if (x <= 0) return 1;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  constexpr double kEnough = 1e-15;
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (double n = a + 1; term > kEnough * sum; ++n) sum += term *= x / n;
    return 1 - front * sum;
  }
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, value = d;
  for (int i = 1; i < 100000; ++i) {
    const double an = -i * (i - a);
    b += 2;
    d = 1 / std::max(an * d + b, kTiny);
    c = std::max(b + an / c, kTiny);
    value *= c * d;
    if (std::abs(c * d - 1) < kEnough) break;
  }
  return front * value;
}

}  // namespace

double mean(std::span<const double> values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double middle = mean(values);
  double sum = 0;
  for (double value : values) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double spearman(std::span<const double> x, std::span<const double> y) {
  const std::vector<double> a = ranks(x), b = ranks(y);
  const double mean_a = mean(a), mean_b = mean(b);
  double both = 0, square_a = 0, square_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean_a) * (b[i] - mean_b);
    square_a += (a[i] - mean_a) * (a[i] - mean_a);
    square_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return square_a == 0 || square_b == 0 ? 0 : both / std::sqrt(square_a * square_b);
}

double exceedance(std::span<const double> first, std::span<const double> second) {
  double sum = 0;
  for (double a : first)
    for (double b : second) sum += a > b ? 1 : a == b ? 0.5 : 0;
  const auto pairs = static_cast<double>(first.size() * second.size());
  return pairs == 0 ? 0.5 : sum / pairs;
}

double chi_square_p(std::span<const double> counts, std::span<const double> probabilities) {
  constexpr double kFewest = 5;
  const double draws = std::accumulate(counts.begin(), counts.end(), 0.0);
  double square = 0, rest_expected = 0, rest_seen = 0;
  int64_t cells = 0;
  const auto add = [&](double seen, double expected) {
    square += (seen - expected) * (seen - expected) / expected;
    ++cells;
  };
  for (size_t i = 0; i < counts.size(); ++i) {
    const double expected = draws * probabilities[i];
    if (expected >= kFewest) {
      add(counts[i], expected);
    } else {
      rest_expected += expected;
      rest_seen += counts[i];
    }
  }
  if (rest_expected >= kFewest) add(rest_seen, rest_expected);
  // What hardly can be drawn and was drawn often speaks against the probabilities too.
  else if (rest_seen > 2 * kFewest)
    return 0;
  return cells < 2 ? 1 : upper_gamma(static_cast<double>(cells - 1) / 2, square / 2);
}

}  // namespace limpid
