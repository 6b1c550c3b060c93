// Operations on each number by itself.

#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "kernels/rows.h"

namespace limpid {
namespace {

void check_same_shape(const char* what, const Tensor& a, const Tensor& b) {
  check(a.rows() == b.rows() && a.cols() == b.cols(), "[{}] {}×{} and {}×{}", what, a.rows(), a.cols(), b.rows(),
        b.cols());
}

void multiply_into(ConstMatrix a, ConstMatrix b, Matrix y, bool accumulate) {
  for (int64_t i = 0; i < y.rows; ++i)
    for (int64_t j = 0; j < y.cols; ++j) y(i, j) = (accumulate ? y(i, j) : 0) + a(i, j) * b(i, j);
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
  multiply_into(a.values(), b.values(), y.values(), false);
  if (records) {
    run.tape()->record([a, b, y = y.gradient_only()](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      for (const auto& [input, other] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
        if (!input->needs_gradient()) continue;
        const GradientTarget into = tape.grad_out(*input);
        multiply_into(other->values(), dy, into.view, into.accumulate);
      }
    });
  }
  return y;
}

Tensor clip(Run& run, const Tensor& x, real limit) {
  const bool records = run.records({&x});
  Tensor y = run.make(x.rows(), x.cols(), records);
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < x.cols(); ++j) y.values()(i, j) = std::clamp(x.values()(i, j), -limit, limit);
  if (records) {
    run.tape()->record([x, y = y.gradient_only(), limit](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      const Matrix dx = tape.grad_out_to_add(x);
      for (int64_t i = 0; i < dy.rows; ++i)
        for (int64_t j = 0; j < dy.cols; ++j)
          if (std::abs(x.values()(i, j)) <= limit) dx(i, j) += dy(i, j);
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
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < x.cols(); ++j) y.values()(i, j) = x.values()(i, j) * factors.values()(i, 0);
  if (records) {
    run.tape()->record([x, factors, y = y.gradient_only()](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      const Matrix dx = x.needs_gradient() ? tape.grad_out_to_add(x) : Matrix{};
      const Matrix dfactors = factors.needs_gradient() ? tape.grad_out_to_add(factors) : Matrix{};
      for (int64_t i = 0; i < dy.rows; ++i) {
        real sum = 0;
        for (int64_t j = 0; j < dy.cols; ++j) {
          if (dx.data) dx(i, j) += dy(i, j) * factors.values()(i, 0);
          sum += dy(i, j) * x.values()(i, j);
        }
        if (dfactors.data) dfactors(i, 0) += sum;
      }
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
      Tensor unused;  // a replaced gate or up is a constant: its gradient goes nowhere
      auto target = [&](const Tensor& input) -> GradientTarget {
        if (input.needs_gradient()) return tape.grad_out(input);
        unused = Tensor(tape.arena(), input.rows(), input.cols());
        return {unused.values(), false};
      };
      const GradientTarget dgate = target(gate), dup = target(up);
      kernels::gated_activation_backward(f, dropout, gate.values(), up.values(), dy, dgate.view, dgate.accumulate,
                                         dup.view, dup.accumulate);
    });
  }
  return y;
}

}  // namespace limpid
