#pragma once
// What the tests of kernels share.

#include <gtest/gtest.h>

#include "kernels/simd.h"
// before Highway's own headers
#include <hwy/targets.h>

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "tensor/matrix.h"

namespace limpid {

// Calls body() once for each instruction set that this machine has and the kernels are compiled for.
template <class Body>
void for_each_target(const Body& body) {
  const int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  for (int64_t rest = targets; rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
}

// A matrix that owns its numbers, with `gap` guarded numbers after each row: intact() tells whether they were left
// alone.
class TestMatrix {
 public:
  TestMatrix(int64_t rows, int64_t cols, int64_t gap = 0, real value = 0)
      : rows_(rows), cols_(cols), stride_(cols + gap), numbers_(std::max<int64_t>(1, rows * stride_), kGuard) {
    for (int64_t i = 0; i < rows; ++i) std::fill_n(numbers_.data() + i * stride_, cols, value);
  }
  // With numbers drawn from the normal distribution.
  static TestMatrix normal(int64_t rows, int64_t cols, int64_t gap, uint64_t key, double scale = 1, double mean = 0) {
    TestMatrix m(rows, cols, gap);
    Random random(key);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < cols; ++j) m(i, j) = static_cast<real>(mean + scale * random.normal());
    }
    return m;
  }

  real& operator()(int64_t i, int64_t j) { return numbers_[i * stride_ + j]; }
  real operator()(int64_t i, int64_t j) const { return numbers_[i * stride_ + j]; }
  Matrix view() { return {numbers_.data(), rows_, cols_, stride_}; }
  ConstMatrix view() const { return {numbers_.data(), rows_, cols_, stride_}; }
  real* data() { return numbers_.data(); }
  const real* data() const { return numbers_.data(); }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  bool operator==(const TestMatrix&) const = default;

  bool intact() const {
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = cols_; j < stride_; ++j) {
        if (numbers_[i * stride_ + j] != kGuard) return false;
      }
    }
    return true;
  }

 private:
  static constexpr real kGuard = -12345;
  int64_t rows_, cols_, stride_;
  std::vector<real> numbers_;
};

// Shapes on which kernels are tested: single numbers, tails, whole vectors, gaps, nothing.
struct TestShape {
  int64_t rows, cols, gap;
};
inline const std::vector<TestShape> kTestShapes = {{1, 1, 0},   {0, 5, 0},   {3, 0, 0},  {1, 7, 0},
                                                   {5, 3, 2},   {2, 16, 0},  {4, 17, 0}, {4, 31, 5},
                                                   {9, 64, 16}, {13, 65, 0}, {3, 130, 3}};

// Runs body with one thread and with three.
template <class Body>
void with_threads(const Body& body) {
  const int before = threads();
  for (int count : {1, 3}) {
    set_threads(count);
    body();
  }
  set_threads(before);
}

}  // namespace limpid
