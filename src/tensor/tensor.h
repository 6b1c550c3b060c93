#pragma once
// Tensor: a value of the forward pass, (rows, cols), usually (tokens, features). Copies share the numbers; a slice
// shares them too. Where a tape records, a tensor also leads to its gradient.

#include "base/error.h"
#include "tensor/arena.h"
#include "tensor/matrix.h"

namespace limpid {

// The gradient of one whole value, filled by the backward pass. It has no block until something is added to it.
struct Gradient {
  int64_t rows = 0;
  int64_t cols = 0;
  Buffer block;
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(const Arena& arena, int64_t rows, int64_t cols)
      : block_(arena.allocate(rows * cols)), view_(block_.get(), rows, cols), whole_(rows * cols) {}

  int64_t rows() const { return view_.rows; }
  int64_t cols() const { return view_.cols; }
  bool empty() const { return block_ == nullptr; }
  Matrix values() { return view_; }
  ConstMatrix values() const { return view_; }

  Tensor columns(int64_t begin, int64_t count) const;  // a view of some columns
  Tensor slice(int64_t begin, int64_t count) const;    // a view of some rows

  // True where nobody else holds these numbers, so that an operation may overwrite them.
  bool sole_owner() const { return block_.use_count() == 1 && is_whole(); }

  bool needs_gradient() const { return gradient_ != nullptr; }
  const std::shared_ptr<Gradient>& gradient() const { return gradient_; }
  void track_gradient() { gradient_ = std::make_shared<Gradient>(Gradient{rows(), cols(), nullptr}); }
  bool is_whole() const { return view_.size() == whole_; }  // false: a slice
  int64_t offset() const { return offset_; }                // of a slice within its whole, in numbers

  // What a record on the tape keeps of a result whose numbers it does not need: the way to its gradient.
  Tensor gradient_only() const;

 private:
  Buffer block_;
  Matrix view_;
  int64_t whole_ = 0;  // numbers in the value that this is, or is a slice of
  int64_t offset_ = 0;
  std::shared_ptr<Gradient> gradient_;  // of the whole that this is a slice of
};

}  // namespace limpid
