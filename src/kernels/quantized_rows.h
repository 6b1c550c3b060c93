#pragma once
// Activations as 8-bit numbers, made on the fly: what a quantised matrix is multiplied with.

#include <cstdint>
#include <vector>

#include "tensor/matrix.h"

namespace limpid::kernels {

// x[i, j] ≈ factor·q[i, j], −127 ≤ q ≤ 127, with one factor for every `block` numbers of a row, factor = max|x| / 127.
// A row that holds a NaN or an infinity gets the factor NaN, so that it is not lost.
class QuantizedRows {
 public:
  // `offset` is what the matrix adds to its own numbers to make them positive: a sum over a block starts at
  // −offset·Σq, which takes that back. block: 32, or 0 for whole rows. `halves`: with sums for each half of a block.
  void quantize(ConstMatrix x, int64_t block, int32_t offset, bool halves = false);

  int64_t rows() const { return rows_; }
  int64_t blocks() const { return blocks_; }                                          // a row
  const int8_t* quants(int64_t row) const { return quants_.data() + row * stride_; }  // zeros after the last one
  const float* scales(int64_t row) const { return factors_.data() + row * blocks_; }
  const int32_t* starts(int64_t row) const { return starts_.data() + row * starts_per_row_; }

 private:
  int64_t rows_ = 0, blocks_ = 0, starts_per_row_ = 0, stride_ = 0;
  std::vector<int8_t> quants_;
  std::vector<float> factors_;
  std::vector<int32_t> starts_;
};

}  // namespace limpid::kernels
