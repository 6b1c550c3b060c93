#pragma once
// Numbers by themselves: products, limits, rows times one number each.

#include "tensor/matrix.h"

namespace limpid::kernels {

// y (+)= a·b, element by element
void multiply_elements(ConstMatrix a, ConstMatrix b, Matrix y, bool accumulate);

// y = x brought into [-limit, limit]
void clip_forward(ConstMatrix x, real limit, Matrix y);
// dx (+)= dy where |x| ≤ limit
void clip_backward(ConstMatrix x, real limit, ConstMatrix dy, Matrix dx, bool accumulate);

// y[i] (+)= factors[i, 0]·x[i]. Backward is the same of dy, and
void scale_rows(ConstMatrix x, ConstMatrix factors, Matrix y, bool accumulate);
// sums[i, 0] += Σ_j a(i, j)·b(i, j)
void add_row_products(ConstMatrix a, ConstMatrix b, Matrix sums);

}  // namespace limpid::kernels
