#pragma once
// Random numbers by counting: a number is a pure function of its key and index, so nothing is stored, every thread can
// draw its own, and a run that is resumed draws what the uninterrupted one would have drawn.

#include <cstdint>

namespace limpid {

// A well-mixed 64-bit function (the finaliser of splitmix64).
constexpr uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The key of what is drawn at one place: of seed, step and place, in any order of calls.
constexpr uint64_t random_key(uint64_t seed, uint64_t step, uint64_t place) {
  return mix(mix(mix(seed) ^ step) ^ place);
}

// A stream of numbers under one key.
class Random {
 public:
  explicit Random(uint64_t key) : key_(key) {}
  uint64_t bits() { return mix(key_ ^ mix(counter_++)); }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // in [0, 1)
  int64_t below(int64_t n) { return static_cast<int64_t>(uniform() * static_cast<double>(n)); }
  double normal();  // mean 0, variance 1

 private:
  uint64_t key_;
  uint64_t counter_ = 0;
};

}  // namespace limpid
