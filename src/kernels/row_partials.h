#pragma once
// Sums over the rows of a batch, kept apart for each range of rows and then added in order: the bits do not depend on
// the number of threads.

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "base/real.h"

namespace limpid::kernels {

class RowPartials {
 public:
  // `width` sums for each range of a batch of rows × cols.
  RowPartials(int64_t rows, int64_t cols, int64_t width)
      : rows_(rows), width_(width), grain_(grain_rows(cols)), sums_((rows + grain_ - 1) / grain_ * width) {}

  // Rows of a range: about 128 KB of floats, and a multiple of the rows that kernels take together.
  static int64_t grain_rows(int64_t cols) { return std::max<int64_t>(2, 8192 / std::max<int64_t>(1, cols)) * 4; }

  // Calls body(begin, end, sums) in parallel for the ranges of rows, where sums are the range's own, zero at first.
  template <class Body>
  void fill(const Body& body) {
    parallel_ranges(rows_, grain_,
                    [&](int64_t begin, int64_t end) { body(begin, end, sums_.data() + begin / grain_ * width_); });
  }

  // Adds the ranges' sums [offset, offset + count) to `to`.
  void add_to(int64_t offset, int64_t count, real* to) const {
    for (size_t range = 0; range < sums_.size(); range += width_) {
      for (int64_t j = 0; j < count; ++j) to[j] += sums_[range + offset + j];
    }
  }

 private:
  int64_t rows_, width_, grain_;
  std::vector<real> sums_;
};

}  // namespace limpid::kernels
