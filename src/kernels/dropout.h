#pragma once
// Dropout: each number is zeroed with probability `rate`, the others are scaled by 1/(1-rate).
// Which ones is a pure function of (key, index), so backward draws the same mask again instead of storing it.

#include <algorithm>

#include "base/random.h"
#include "tensor/matrix.h"

namespace limpid {

struct Dropout {
  float rate = 0;    // 0: nothing is dropped
  uint64_t key = 0;  // of seed, step and place: base/random.h
};

// The mask, specified: a hash of 32 bits, signed so that every instruction set can compare it, against a limit.
// The key and the upper half of the index give two words, one mixed in before each of the two multiplications
// (constants: Wellons 2018, "lowbias32"). kernels/simd-inl.h draws the same bits a vector at a time.
constexpr uint32_t kDropoutFactor1 = 0x7feb352d;
constexpr uint32_t kDropoutFactor2 = 0x846ca68b;

constexpr uint64_t dropout_words(uint64_t key, uint64_t index) { return mix(mix(key) ^ (index >> 32)); }

constexpr int32_t dropout_hash(uint64_t key, uint64_t index) {
  const uint64_t words = dropout_words(key, index);
  uint32_t x = static_cast<uint32_t>(index) ^ static_cast<uint32_t>(words);
  x = (x ^ (x >> 16)) * kDropoutFactor1;
  x ^= static_cast<uint32_t>(words >> 32);
  x = (x ^ (x >> 15)) * kDropoutFactor2;
  return static_cast<int32_t>(x);
}

// The hash is above this with probability 1 - rate.
constexpr int32_t dropout_limit(float rate) {
  return static_cast<int32_t>(std::clamp(rate * 0x1p32 - 0x1p31 - 1, -0x1p31, 0x1p31 - 1));
}

// What a number that is kept is multiplied by.
constexpr real dropout_scale(float rate) { return rate < 1 ? real(1 / (1 - static_cast<double>(rate))) : real(0); }

constexpr bool dropout_keeps(const Dropout& dropout, uint64_t index) {
  return dropout.rate <= 0 || dropout_hash(dropout.key, index) > dropout_limit(dropout.rate);
}

namespace kernels {

// y = residual + drop(x). A residual without data stands for zero. y may be x. The index of (i, j) is i·cols + j.
void dropout_forward(const Dropout& dropout, ConstMatrix residual, ConstMatrix x, Matrix y);

// dx (+)= drop(dy), added where accumulate is set. dx may be dy.
void dropout_backward(const Dropout& dropout, ConstMatrix dy, Matrix dx, bool accumulate);

}  // namespace kernels
}  // namespace limpid
