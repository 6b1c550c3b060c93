#include "autograd/tape.h"

#include <algorithm>
#include <utility>

#include "kernels/rows.h"

namespace limpid {
namespace {

Matrix view_of(const Tensor& value, const Gradient& gradient) {
  return {gradient.block.get() + value.offset(), value.rows(), value.cols(), value.values().stride};
}

}  // namespace

void Tape::seed(const Tensor& value, ConstMatrix gradient) {
  check(value.needs_gradient(), "[tape] a gradient was given for a value that the tape does not know");
  check(gradient.rows == value.rows() && gradient.cols == value.cols(),
        "[tape] gradient of another shape than its value");
  const GradientTarget into = grad_out(value);
  kernels::add_scaled(gradient, 1, into.view, into.accumulate);
}

void Tape::backward() {
  while (!records_.empty()) {
    auto record = std::move(records_.back());
    records_.pop_back();
    record(*this);
    for (; !uses_.empty() && uses_.back().record >= records_.size(); uses_.pop_back()) complete_(*uses_.back().weight);
  }
}

void Tape::note_use(const Weight& weight) {
  if (!complete_ || !wants(weight)) return;
  const auto index = static_cast<size_t>(weight.index);
  if (used_.size() <= index) used_.resize(index + 1);
  if (std::exchange(used_[index], 1) == 0) uses_.push_back({records_.size(), &weight});
}

ConstMatrix Tape::grad(const Tensor& value) const {
  if (!value.needs_gradient() || !value.gradient()->block) return {};
  return view_of(value, *value.gradient());
}

GradientTarget Tape::grad_out(const Tensor& input) {
  Gradient& gradient = *input.gradient();
  bool accumulate = true;
  if (!gradient.block) {
    gradient.block = arena_.allocate(gradient.rows * gradient.cols);
    accumulate = !input.is_whole();
    if (accumulate) kernels::fill_zero({gradient.block.get(), gradient.rows, gradient.cols});
  } else {
    make_own(gradient);
  }
  return {view_of(input, gradient), accumulate};
}

GradientTarget Tape::grad_out_in_place(const Tensor& result, const Tensor& input) {
  Gradient& from = *result.gradient();
  Gradient& to = *input.gradient();
  if (to.block || from.block.use_count() != 1 || !result.is_whole() || !input.is_whole()) return grad_out(input);
  to.block = std::move(from.block);
  return {view_of(input, to), false};
}

Matrix Tape::grad_out_to_add(const Tensor& input) {
  const GradientTarget into = grad_out(input);
  if (!into.accumulate) kernels::fill_zero(into.view);
  return into.view;
}

void Tape::share_grad(const Tensor& result, const Tensor& input) {
  if (!input.needs_gradient()) return;
  Gradient& gradient = *input.gradient();
  if (!gradient.block && input.is_whole() && result.is_whole()) {
    gradient.block = result.gradient()->block;  // shared until one of them is added to
  } else {
    const GradientTarget into = grad_out(input);
    kernels::add_scaled(grad(result), 1, into.view, into.accumulate);
  }
}

// Before adding to a block that another gradient shares: a copy of one's own.
void Tape::make_own(Gradient& gradient) const {
  if (gradient.block.use_count() == 1) return;
  Buffer own = arena_.allocate(gradient.rows * gradient.cols);
  kernels::add_scaled(ConstMatrix{gradient.block.get(), gradient.rows, gradient.cols}, 1,
                      Matrix{own.get(), gradient.rows, gradient.cols}, false);
  gradient.block = std::move(own);
}

}  // namespace limpid
