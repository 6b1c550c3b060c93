// Operations on each number by itself.

#include "autograd/input_gradient.h"
#include "autograd/ops.h"
#include "kernels/pointwise.h"
#include "kernels/rows.h"

namespace limpid {
namespace {

void check_same_shape(const char* what, const Tensor& a, const Tensor& b) {
  check(a.rows() == b.rows() && a.cols() == b.cols(), "[{}] {}×{} and {}×{}", what, a.rows(), a.cols(), b.rows(),
        b.cols());
}

}  // namespace

Tensor dropout_add(Run& run, const Tensor& residual, Tensor x, double rate) {
  if (!residual.empty()) check_same_shape("dropout_add", residual, x);
  const Dropout dropout = run.dropout(rate);
  if (residual.empty() && dropout.rate == 0) return x;
  const bool records = run.records({&residual, &x});
  const Tensor input = x.gradient_only();
  Tensor y;
  if (x.sole_owner()) {
    y = std::move(x);
    kernels::dropout_forward(dropout, residual.values(), y.values(), y.values());
    if (records) y.track_gradient();
  } else {
    y = run.make(x.rows(), x.cols(), records);
    kernels::dropout_forward(dropout, residual.values(), x.values(), y.values());
  }
  if (records) {
    run.tape()->record([residual = residual.gradient_only(), input, y = y.gradient_only(), dropout](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      if (dropout.rate == 0) {
        tape.share_grad(y, input);
      } else if (input.needs_gradient()) {
        const GradientTarget dx = tape.grad_out(input);
        kernels::dropout_backward(dropout, dy, dx.view, dx.accumulate);
      }
      tape.share_grad(y, residual);
    });
  }
  return y;
}

Tensor add(Run& run, const Tensor& a, const Tensor& b) { return dropout_add(run, a, b, 0); }

Tensor scale(Run& run, const Tensor& x, real factor) {
  const bool records = run.records({&x});
  Tensor y = run.make(x.rows(), x.cols(), records);
  kernels::add_scaled(x.values(), factor, y.values(), false);
  if (records) {
    run.tape()->record([x = x.gradient_only(), y = y.gradient_only(), factor](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      const GradientTarget dx = tape.grad_out(x);
      kernels::add_scaled(dy, factor, dx.view, dx.accumulate);
    });
  }
  return y;
}

Tensor multiply(Run& run, const Tensor& a, const Tensor& b) {
  check_same_shape("multiply", a, b);
  const bool records = run.records({&a, &b});
  Tensor y = run.make(a.rows(), a.cols(), records);
  kernels::multiply_elements(a.values(), b.values(), y.values(), false);
  if (records) {
    run.tape()->record([a, b, y = y.gradient_only()](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      for (const auto& [input, other] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
        if (!input->needs_gradient()) continue;
        const GradientTarget into = tape.grad_out(*input);
        kernels::multiply_elements(other->values(), dy, into.view, into.accumulate);
      }
    });
  }
  return y;
}

Tensor clip(Run& run, const Tensor& x, real limit) {
  const bool records = run.records({&x});
  Tensor y = run.make(x.rows(), x.cols(), records);
  kernels::clip_forward(x.values(), limit, y.values());
  if (records) {
    run.tape()->record([x, y = y.gradient_only(), limit](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      const GradientTarget dx = tape.grad_out(x);
      kernels::clip_backward(x.values(), limit, dy, dx.view, dx.accumulate);
    });
  }
  return y;
}

Tensor soft_cap(Run& run, const Tensor& x, real cap) {
  return scale(run, activation(run, scale(run, x, 1 / cap), Activation::tanh), cap);
}

Tensor scale_rows(Run& run, const Tensor& x, const Tensor& factors) {
  check(x.rows() == factors.rows() && factors.cols() == 1, "[scale_rows] {} rows and {} factors", x.rows(),
        factors.rows());
  const bool records = run.records({&x, &factors});
  Tensor y = run.make(x.rows(), x.cols(), records);
  kernels::scale_rows(x.values(), factors.values(), y.values(), false);
  if (records) {
    run.tape()->record([x, factors, y = y.gradient_only()](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      if (x.needs_gradient()) {
        const GradientTarget dx = tape.grad_out(x);
        kernels::scale_rows(dy, factors.values(), dx.view, dx.accumulate);
      }
      if (factors.needs_gradient()) kernels::add_row_products(x.values(), dy, tape.grad_out_to_add(factors));
    });
  }
  return y;
}

Tensor activation(Run& run, Tensor x, Activation f, double dropout_rate) {
  // The way back through tanh needs what it gave, before dropout.
  if (f == Activation::tanh && run.train() && dropout_rate > 0)
    return dropout_add(run, {}, activation(run, std::move(x), f), dropout_rate);
  const Dropout dropout = run.dropout(dropout_rate);
  const bool records = run.records({&x});
  const bool from_output = f == Activation::relu || f == Activation::tanh;
  const Tensor input = x.gradient_only();
  Tensor y, saved;
  if (x.sole_owner() && (from_output || !records)) {
    y = std::move(x);
    kernels::activation_forward(f, dropout, y.values(), y.values());
    if (records) y.track_gradient();
  } else {
    y = run.make(x.rows(), x.cols(), records);
    kernels::activation_forward(f, dropout, x.values(), y.values());
    saved = std::move(x);
  }
  if (records) {
    if (from_output) saved = y;
    run.tape()->record([input, saved = std::move(saved), y = y.gradient_only(), f, dropout](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      const GradientTarget dx = tape.grad_out_in_place(y, input);
      kernels::activation_backward(f, dropout, saved.values(), dy, dx.view, dx.accumulate);
    });
  }
  return y;
}

Tensor gated_activation(Run& run, const Tensor& gate, const Tensor& up, Activation f, double dropout_rate) {
  check_same_shape("gated_activation", gate, up);
  const Dropout dropout = run.dropout(dropout_rate);
  const bool records = run.records({&gate, &up});
  Tensor y = run.make(gate.rows(), gate.cols(), records);
  kernels::gated_activation_forward(f, dropout, gate.values(), up.values(), y.values());
  if (records) {
    run.tape()->record([gate, up, y = y.gradient_only(), f, dropout](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      const InputGradient dgate(tape, gate), dup(tape, up);
      kernels::gated_activation_backward(f, dropout, gate.values(), up.values(), dy, dgate.view(), dgate.accumulate(),
                                         dup.view(), dup.accumulate());
    });
  }
  return y;
}

}  // namespace limpid
