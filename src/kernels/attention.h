#pragma once
// Scaled dot-product attention over ragged batches ("Attention Is All You Need", equation 1), many heads, grouped keys.
//
//   scores = cap(scale·Q·Kᵀ) + bias;  pattern = softmax(mask(scores));  z = drop(pattern)·V
//
// cap(x) = softcap·tanh(x/softcap), where the shape has one. The bias, where a job has one, is a number for each head
// and distance.
// A job is one sequence: its queries, and the keys and values they may look at, wherever those lie (in a batch, in an
// encoder's output, in a cache). Query i of n stands at place p = i + (m - n) among the m keys: the last query at the
// last key. It sees key j where j ≤ p if causal, and where |p - j| < window if there is one. Head h reads columns [h·D,
// (h+1)·D) of q, z and columns of head h·kv_heads/heads of k, v.
//
// Letters: N queries and M keys of one sequence, H heads, D head size.

#include <vector>

#include "kernels/dropout.h"
#include "tensor/matrix.h"

namespace limpid {

struct AttentionShape {
  int64_t heads = 1;
  int64_t kv_heads = 1;   // divides heads
  int64_t head_size = 0;  // D
  real scale = 1;         // usually 1/√D
  bool causal = false;
  int64_t window = 0;  // 0: none
  real softcap = 0;    // 0: none
};

namespace kernels {

// Columns that a bias has on both sides beyond the distances that occur: they are read, though never used.
inline constexpr int64_t kBiasMargin = 64;

struct AttentionJob {
  ConstMatrix q;  // (N, H·D)
  ConstMatrix k;  // (M, kv_heads·D)
  ConstMatrix v;  // (M, kv_heads·D)
  Matrix z;       // (N, H·D)
  // Where key j and its value are among the rows of k and v; null: row j. Only forward passes of one query know
  // it.
  const int32_t* rows = nullptr;
  // What is added to the scores: (H, distances), the column of distance p - j is bias_zero + p - j. None: no rows.
  ConstMatrix bias = {};
  int64_t bias_zero = 0;
};

// The fast kernel: scores live only in a block of rows at a time. log_sums, where given, receives the logarithm of the
// softmax's denominator, H·N numbers per job (head by head), the jobs one after another: what backward needs.
// Dropout falls on the pattern; the index of (head h, query i, key j) of a job is start + (h·N + i)·M + j, where start
// counts the H·N·M pairs of the jobs before it.
void attention_forward(const AttentionShape& shape, const Dropout& dropout, const std::vector<AttentionJob>& jobs,
                       real* log_sums);

// The same where keys and values lie in a cache, without dropout: tokens are read one at a time or many, as it happens,
// and the bits of a query's z depend on itself and on the keys that it sees alone.
void cached_attention_forward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs);

struct AttentionGradients {
  ConstMatrix dz;     // (N, H·D)
  Matrix dq, dk, dv;  // as q, k, v; added to what stands there
  Matrix dbias = {};  // as the bias, likewise; where a job has one, and of each job its own
};

// Recomputes the pattern from q, k and log_sums. gradients[i] belongs to jobs[i]; jobs' dk, dv never overlap.
void attention_backward(const AttentionShape& shape, const Dropout& dropout, const std::vector<AttentionJob>& jobs,
                        const real* log_sums, const std::vector<AttentionGradients>& gradients);

// The same in four steps that keep every number, for taps. Pairs: for each job H·N·M numbers laid out (H, N, M), the
// jobs one after another. Every backward adds to the gradients it writes.

int64_t pair_count(const AttentionShape& shape, const std::vector<AttentionJob>& jobs);

// scores = cap(scale·Q·Kᵀ) + bias; backward reads the scores that forward wrote
void attention_scores_forward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, real* scores);
void attention_scores_backward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, const real* scores,
                               const real* dscores, const std::vector<AttentionGradients>& gradients);
// masked = scores, but -∞ where a query does not see the key; backward: dscores += dmasked where it does
void attention_mask_forward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, const real* scores,
                            real* masked);
void attention_mask_backward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, const real* dmasked,
                             real* dscores);
// pattern = softmax of each row of masked over its M keys
void attention_softmax_forward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, const real* masked,
                               real* pattern);
void attention_softmax_backward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, const real* pattern,
                                const real* dpattern, real* dmasked);
// z = drop(pattern)·V
void attention_values_forward(const AttentionShape& shape, const Dropout& dropout,
                              const std::vector<AttentionJob>& jobs, const real* pattern);
void attention_values_backward(const AttentionShape& shape, const Dropout& dropout,
                               const std::vector<AttentionJob>& jobs, const real* pattern, real* dpattern,
                               const std::vector<AttentionGradients>& gradients);

}  // namespace kernels
}  // namespace limpid
