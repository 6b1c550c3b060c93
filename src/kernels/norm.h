#pragma once
// Normalisation of vectors: layer norm, RMS norm, and batch norm as their contrast.
// In every backward, gradients of gain and bias are added to what stands there.

#include "tensor/matrix.h"

namespace limpid::kernels {

// Layer norm (Ba et al. 2016): y = gain·(x - mean)·rstd + bias, rstd = 1/√(variance + eps), over each row.
// mean, rstd (reciprocal of the standard deviation): one number per row, written by forward, read by backward. y may be
// x. The bias may be null.
void layer_norm_forward(ConstMatrix x, const real* gain, const real* bias, real eps, Matrix y, real* mean, real* rstd);
void layer_norm_backward(ConstMatrix x, const real* gain, const real* mean, const real* rstd, ConstMatrix dy, Matrix dx,
                         bool accumulate, real* dgain, real* dbias);

// RMS norm (Zhang & Sennrich 2019): y = gain·x·rstd, rstd = 1/√(mean of squares + eps), over each row. y may be x.
void rms_norm_forward(ConstMatrix x, const real* gain, real eps, Matrix y, real* rstd);
void rms_norm_backward(ConstMatrix x, const real* gain, const real* rstd, ConstMatrix dy, Matrix dx, bool accumulate,
                       real* dgain);

// The same two in steps, for those who look at the scale between them; centered: layer norm, else RMS norm, whose mean
// is zero. scale = √(variance + eps), one number per row: what a row is divided by. y = gain·(x - mean)/scale + bias.
void norm_scale_forward(bool centered, ConstMatrix x, real eps, Matrix scale);
// dx (+)= dscale·(x - mean)/(d·scale), with d numbers in a row
void norm_scale_backward(bool centered, ConstMatrix x, ConstMatrix scale, ConstMatrix dscale, Matrix dx,
                         bool accumulate);
void normalize_forward(bool centered, ConstMatrix x, ConstMatrix scale, const real* gain, const real* bias, Matrix y);
// Adds to dx and dscale too; those without data, and null ones, are left out.
void normalize_backward(bool centered, ConstMatrix x, ConstMatrix scale, const real* gain, ConstMatrix dy, Matrix dx,
                        Matrix dscale, real* dgain, real* dbias);

// Batch norm (Ioffe & Szegedy 2015): as layer norm, but over each column, that is over the tokens of the batch.
// batch_statistics writes mean and variance of each column (the biased variance, divided by the number of rows).
void batch_statistics(ConstMatrix x, real* mean, real* variance);
void batch_norm_forward(ConstMatrix x, const real* gain, const real* bias, const real* mean, const real* variance,
                        real eps, Matrix y);
// from_batch: mean and variance came from x itself, so that they too depend on it; else they are constants.
void batch_norm_backward(ConstMatrix x, const real* gain, const real* mean, const real* variance, real eps,
                         bool from_batch, ConstMatrix dy, Matrix dx, bool accumulate, real* dgain, real* dbias);

}  // namespace limpid::kernels
