#pragma once
// The loss of a classifier with label smoothing (Szegedy et al. 2016), as
// torch.nn.CrossEntropyLoss defines it: the target distribution is (1-ε)·onehot + ε/V over all V classes.

#include "tensor/matrix.h"

namespace limpid::kernels {

// losses[i] = -(1-ε)·log p[label] - ε/V·Σ log p, with p the softmax of row i. Labels lie in [0, cols).
void cross_entropy_forward(ConstMatrix logits, const int32_t* labels, real smoothing, real* losses);

// The same, and every logit is replaced by its gradient times weight: weight·(p - target).
void cross_entropy_forward_backward(Matrix logits, const int32_t* labels, real smoothing, real weight, real* losses);

}  // namespace limpid::kernels
