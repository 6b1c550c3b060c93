#pragma once
// Matrix: a view of numbers that somebody else owns, rows × cols, each row contiguous, rows `stride` apart.
// What kernels read and write. Copying a view copies no numbers.

#include <cstdint>

#include "base/real.h"

namespace limpid {

template <class T>
struct MatrixView {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;  // numbers from one row to the next

  MatrixView() = default;
  MatrixView(T* data_, int64_t rows_, int64_t cols_, int64_t stride_)
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
  MatrixView(T* data_, int64_t rows_, int64_t cols_) : MatrixView(data_, rows_, cols_, cols_) {}
  operator MatrixView<const T>() const { return {data, rows, cols, stride}; }

  T* row(int64_t i) const { return data + i * stride; }
  T& operator()(int64_t i, int64_t j) const { return data[i * stride + j]; }
  int64_t size() const { return rows * cols; }
  bool contiguous() const { return stride == cols || rows <= 1; }
  MatrixView rows_from(int64_t begin, int64_t count) const { return {data + begin * stride, count, cols, stride}; }
  MatrixView cols_from(int64_t begin, int64_t count) const { return {data + begin, rows, count, stride}; }
};

using Matrix = MatrixView<real>;
using ConstMatrix = MatrixView<const real>;

}  // namespace limpid
