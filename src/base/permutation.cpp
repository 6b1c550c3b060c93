#include "base/permutation.h"

#include "base/random.h"

namespace limpid {

Permutation::Permutation(int64_t n, uint64_t key) : n_(static_cast<uint64_t>(n)), key_(key) {
  while ((uint64_t{1} << (2 * half_)) < n_) ++half_;
  mask_ = (uint64_t{1} << half_) - 1;
}

int64_t Permutation::operator()(int64_t place) const {
  constexpr uint64_t kRounds = 6;
  auto x = static_cast<uint64_t>(place);
  do {
    uint64_t left = x >> half_, right = x & mask_;
    for (uint64_t round = 0; round < kRounds; ++round) {
      const uint64_t next = left ^ (mix(key_ ^ mix(right ^ (round << 48))) & mask_);
      left = right;
      right = next;
    }
    x = left << half_ | right;
  } while (x >= n_);
  return static_cast<int64_t>(x);
}

}  // namespace limpid
