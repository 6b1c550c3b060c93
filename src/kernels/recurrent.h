#pragma once
// The cells of recurrent networks, in PyTorch's order of gates and with its two biases.
// gx = W_ih·x + b_ih and gh = W_hh·h + b_hh come from matrix products. B rows (sequences), H units.
// All gradients are added to what stands there.

#include "tensor/matrix.h"

namespace limpid::kernels {

// GRU (Cho et al. 2014): gates (B, 3H) = [r, z, n]; r = σ(gx_r + gh_r), z = σ(gx_z + gh_z), n = tanh(gx_n + r·gh_n)
void gru_gates_forward(ConstMatrix gx, ConstMatrix gh, Matrix gates);
void gru_gates_backward(ConstMatrix gates, ConstMatrix gh, ConstMatrix dgates, Matrix dgx, Matrix dgh);
// h' = (1-z)·n + z·h
void gru_state_forward(ConstMatrix gates, ConstMatrix h, Matrix h_next);
void gru_state_backward(ConstMatrix gates, ConstMatrix h, ConstMatrix dh_next, Matrix dgates, Matrix dh);

// LSTM (Hochreiter & Schmidhuber 1997): gates (B, 4H) = [i, f, g, o] of gx + gh; g by tanh, the others by σ
void lstm_gates_forward(ConstMatrix gx, ConstMatrix gh, Matrix gates);
void lstm_gates_backward(ConstMatrix gates, ConstMatrix dgates, Matrix dgx, Matrix dgh);
// c' = f·c + i·g
void lstm_cell_forward(ConstMatrix gates, ConstMatrix c, Matrix c_next);
void lstm_cell_backward(ConstMatrix gates, ConstMatrix c, ConstMatrix dc_next, Matrix dgates, Matrix dc);
// h' = o·tanh(c')
void lstm_state_forward(ConstMatrix gates, ConstMatrix c_next, Matrix h_next);
void lstm_state_backward(ConstMatrix gates, ConstMatrix c_next, ConstMatrix dh_next, Matrix dgates, Matrix dc_next);

}  // namespace limpid::kernels
