#pragma once
// Dropout: each number is zeroed with probability `rate`, the others are scaled by 1/(1-rate).
// Which ones is a pure function of (key, index), so backward draws the same mask again instead of storing it.

#include "tensor/matrix.h"

namespace limpid {

struct Dropout {
  float rate = 0;    // 0: nothing is dropped
  uint64_t key = 0;  // of seed, step and place: base/random.h
};

namespace kernels {

// y = residual + drop(x). A residual without data stands for zero. y may be x. The index of (i, j) is i·cols + j.
void dropout_forward(const Dropout& dropout, ConstMatrix residual, ConstMatrix x, Matrix y);

// dx (+)= drop(dy), added where accumulate is set. dx may be dy.
void dropout_backward(const Dropout& dropout, ConstMatrix dy, Matrix dx, bool accumulate);

}  // namespace kernels
}  // namespace limpid
