#pragma once
// Where a backward kernel writes the gradient of an input: its own place, or one that is thrown away where nobody wants
// it (a value that a probe has replaced is a constant).

#include "autograd/tape.h"
#include "kernels/rows.h"

namespace limpid {

class InputGradient {
 public:
  // Nowhere for an empty input.
  InputGradient(Tape& tape, const Tensor& input) {
    if (input.needs_gradient()) {
      target_ = tape.grad_out(input);
    } else if (!input.empty()) {
      unused_ = Tensor(tape.arena(), input.rows(), input.cols());
      target_ = {unused_.values(), false};
    }
  }

  Matrix view() const { return target_.view; }
  bool accumulate() const { return target_.accumulate; }
  // For kernels that always add.
  Matrix to_add() {
    if (!target_.accumulate) kernels::fill_zero(target_.view);
    target_.accumulate = true;
    return target_.view;
  }

 private:
  Tensor unused_;
  GradientTarget target_;
};

}  // namespace limpid
