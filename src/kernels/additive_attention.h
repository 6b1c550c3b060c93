#pragma once
// Scores of additive attention (Bahdanau et al. 2015): e_ij = v · tanh(query_i + key_j), the projections already
// applied. Softmax and weighted sum are those of kernels/attention.h with one head.

#include <vector>

#include "tensor/matrix.h"

namespace limpid::kernels {

struct AdditiveJob {
  ConstMatrix query;  // (N, H)
  ConstMatrix key;    // (M, H)
};
struct AdditiveGradients {
  Matrix dquery, dkey;
};

// scores: for each job N·M numbers laid out (N, M), the jobs one after another. v has H numbers.
void additive_scores_forward(const std::vector<AdditiveJob>& jobs, const real* v, real* scores);
// Adds to dquery, dkey and dv.
void additive_scores_backward(const std::vector<AdditiveJob>& jobs, const real* v, const real* dscores,
                              const std::vector<AdditiveGradients>& gradients, real* dv);

}  // namespace limpid::kernels
