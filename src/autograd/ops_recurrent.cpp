// One step of recurrent cells, in the parts that taps show: gates, cell, state.

#include "autograd/input_gradient.h"
#include "autograd/ops.h"
#include "kernels/recurrent.h"

namespace limpid {
namespace {

// y = f(a, b) for kernels that add to the gradients of both.
template <class Forward, class Backward>
Tensor binary(Run& run, const Tensor& a, const Tensor& b, int64_t cols, Forward forward, Backward backward) {
  check(a.rows() == b.rows(), "[recurrent] {} rows meet {}", a.rows(), b.rows());
  const bool records = run.records({&a, &b});
  Tensor y = run.make(a.rows(), cols, records);
  forward(a.values(), b.values(), y.values());
  if (records) {
    run.tape()->record([a, b, y, backward](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      InputGradient da(tape, a), db(tape, b);
      backward(a.values(), b.values(), y.values(), dy, da.to_add(), db.to_add());
    });
  }
  return y;
}

}  // namespace

Tensor gru_gates(Run& run, const Tensor& gx, const Tensor& gh) {
  return binary(run, gx, gh, gx.cols(), kernels::gru_gates_forward,
                [](ConstMatrix, ConstMatrix h, ConstMatrix gates, ConstMatrix dy, Matrix dgx, Matrix dgh) {
                  kernels::gru_gates_backward(gates, h, dy, dgx, dgh);
                });
}

Tensor gru_state(Run& run, const Tensor& gates, const Tensor& h) {
  return binary(run, gates, h, h.cols(), kernels::gru_state_forward,
                [](ConstMatrix g, ConstMatrix before, ConstMatrix, ConstMatrix dy, Matrix dgates, Matrix dh) {
                  kernels::gru_state_backward(g, before, dy, dgates, dh);
                });
}

Tensor lstm_gates(Run& run, const Tensor& gx, const Tensor& gh) {
  return binary(run, gx, gh, gx.cols(), kernels::lstm_gates_forward,
                [](ConstMatrix, ConstMatrix, ConstMatrix gates, ConstMatrix dy, Matrix dgx, Matrix dgh) {
                  kernels::lstm_gates_backward(gates, dy, dgx, dgh);
                });
}

Tensor lstm_cell(Run& run, const Tensor& gates, const Tensor& c) {
  return binary(run, gates, c, c.cols(), kernels::lstm_cell_forward,
                [](ConstMatrix g, ConstMatrix before, ConstMatrix, ConstMatrix dy, Matrix dgates, Matrix dc) {
                  kernels::lstm_cell_backward(g, before, dy, dgates, dc);
                });
}

Tensor lstm_state(Run& run, const Tensor& gates, const Tensor& c) {
  return binary(run, gates, c, c.cols(), kernels::lstm_state_forward,
                [](ConstMatrix g, ConstMatrix cell, ConstMatrix, ConstMatrix dy, Matrix dgates, Matrix dc) {
                  kernels::lstm_state_backward(g, cell, dy, dgates, dc);
                });
}

}  // namespace limpid
