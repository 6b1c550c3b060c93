#pragma once
// The non-linearity of the feed-forward network, plain or gated, with the dropout that may follow it.

#include "kernels/dropout.h"
#include "tensor/matrix.h"

namespace limpid {

enum class Activation {
  none,        // x
  relu,        // max(x, 0)
  gelu,        // x·Φ(x), Φ(x) = (1 + erf(x/√2))/2
  gelu_tanh,   // x·(1 + tanh(√(2/π)(x + 0.044715x³)))/2
  silu,        // x·σ(x), σ(x) = 1/(1 + e⁻ˣ), also called swish
  quick_gelu,  // x·σ(1.702x)
  tanh,        // of recurrent models' bridges
};

namespace kernels {

// y = drop(f(x)). y may be x.
void activation_forward(Activation f, const Dropout& dropout, ConstMatrix x, Matrix y);

// dx (+)= f'(x)·drop(dy). `saved` is the output y for relu and tanh, else the input x. dx may be dy unless accumulate
// is set. (relu: a dropped y is zero, and so is its gradient, hence y alone suffices; tanh takes no dropout.)
void activation_backward(Activation f, const Dropout& dropout, ConstMatrix saved, ConstMatrix dy, Matrix dx,
                         bool accumulate);

// y = drop(f(gate)·up)
void gated_activation_forward(Activation f, const Dropout& dropout, ConstMatrix gate, ConstMatrix up, Matrix y);

// dgate (+)= f'(gate)·up·drop(dy);  dup (+)= f(gate)·drop(dy)
void gated_activation_backward(Activation f, const Dropout& dropout, ConstMatrix gate, ConstMatrix up, ConstMatrix dy,
                               Matrix dgate, bool accumulate_gate, Matrix dup, bool accumulate_up);

}  // namespace kernels
}  // namespace limpid
