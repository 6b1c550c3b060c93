#pragma once
// How kernels that treat every number alike cut their work.

#include <algorithm>

#include "base/parallel.h"
#include "tensor/matrix.h"

namespace limpid::kernels {

// Calls body(row, col, count) in parallel for stretches of rows that cover rows × cols: each lies in one row, or, where
// all matrices are contiguous (`flat`), anywhere in the numbers laid end to end, and then row is 0.
template <class Body>
void parallel_elements(int64_t rows, int64_t cols, bool flat, const Body& body) {
  constexpr int64_t kGrain = 16384;  // numbers: enough work to outweigh handing it out, little enough to share well
  if (rows == 0 || cols == 0) return;
  if (flat) {
    parallel_ranges(rows * cols, kGrain, [&](int64_t begin, int64_t end) { body(int64_t{0}, begin, end - begin); });
    return;
  }
  parallel_ranges(rows, std::max<int64_t>(1, kGrain / cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i, int64_t{0}, cols);
  });
}

}  // namespace limpid::kernels
