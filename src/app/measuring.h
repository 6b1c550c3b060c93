#pragma once
// What measurements have in common: the clock, the best of several rounds, numbers fit to be printed.

#include <algorithm>
#include <chrono>
#include <cmath>

namespace limpid {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The shortest time of several rounds of work, after one to warm up.
template <class Work>
double best_seconds(int rounds, const Work& work) {
  double best = 0;
  for (int round = 0; round <= rounds; ++round) {
    const double start = seconds_now();
    work();
    const double elapsed = seconds_now() - start;
    if (round > 0) best = best == 0 ? elapsed : std::min(best, elapsed);
  }
  return best;
}

// To so many steps per unit: rounded(0.12345, 1000) is 0.123.
inline double rounded(double value, double steps) { return std::round(value * steps) / steps; }

}  // namespace limpid
