#include "tensor/tensor.h"

namespace limpid {

Tensor Tensor::columns(int64_t begin, int64_t count) const {
  check(begin >= 0 && count >= 0 && begin + count <= cols(), "[tensor] columns {}+{} of {}", begin, count, cols());
  Tensor result = *this;
  result.view_ = view_.cols_from(begin, count);
  result.offset_ += begin;
  return result;
}

Tensor Tensor::slice(int64_t begin, int64_t count) const {
  check(begin >= 0 && count >= 0 && begin + count <= rows(), "[tensor] rows {}+{} of {}", begin, count, rows());
  Tensor result = *this;
  result.view_ = view_.rows_from(begin, count);
  result.offset_ += begin * view_.stride;
  return result;
}

Tensor Tensor::gradient_only() const {
  Tensor result = *this;
  result.block_.reset();
  result.view_.data = nullptr;
  return result;
}

}  // namespace limpid
