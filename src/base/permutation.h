#pragma once
// A random order of the numbers 0 … n-1 that is computed, not stored.

#include <cstdint>

namespace limpid {

// A Feistel network over the smallest even number of bits that holds n, walked until it lands below n.
class Permutation {
 public:
  Permutation(int64_t n, uint64_t key);
  int64_t operator()(int64_t place) const;  // every number below n once, for places 0 … n-1

 private:
  uint64_t n_, key_, mask_;
  int half_ = 1;  // bits
};

}  // namespace limpid
