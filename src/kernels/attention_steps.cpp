#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_steps.cpp"
#include <hwy/foreach_target.h>

#include <limits>

#include "kernels/attention-inl.h"

// Each step for one head of one job: pairs are matrices (N, M).

HWY_BEFORE_NAMESPACE();
namespace limpid {
namespace HWY_NAMESPACE {

namespace {

// The columns of the bias for query i with key 0, and from there backwards.
const real* bias_of(const AttentionJob& head, int64_t n, int64_t m, int64_t i) {
  return head.bias.data ? head.bias.data + head.bias_zero + i + m - n : nullptr;
}

}  // namespace

// scores = cap(scale·Q·Kᵀ) + bias
void scores_forward(const AttentionShape& shape, const AttentionJob& head, Matrix scores) {
  if (scores.cols == 0) return;
  Scratch scratch(shape.head_size * whole_vectors(scores.cols));
  const ConstMatrix k_t = pack_transposed(head.k, scratch.take(shape.head_size * whole_vectors(scores.cols)));
  multiply_small({.a = as_is(head.q), .b = k_t, .c = scores, .alpha = &shape.scale});
  const Reals d;
  for (int64_t i = 0; i < scores.rows; ++i) {
    real* const row = scores.row(i);
    if (shape.softcap > 0)
      for_each_vector(scores.cols, [&](int64_t j, auto part) HWY_ATTR {
        const RealVec share = hn::Mul(part.load(row + j), hn::Set(d, 1 / shape.softcap));
        part.store(hn::Mul(hn::Set(d, shape.softcap), hn::Tanh(d, share)), row + j);
      });
    if (const real* bias = bias_of(head, scores.rows, scores.cols, i))
      for (int64_t j = 0; j < scores.cols; ++j) row[j] += bias[-j];
  }
}

namespace {

// dbias += dscores, by distance; returns dscores∘(1 - tanh²) in `buffer`, or dscores itself where there is no cap.
ConstMatrix uncapped(const AttentionShape& shape, const AttentionJob& head, ConstMatrix scores, ConstMatrix dscores,
                     Matrix dbias, real* buffer) {
  const Matrix result(buffer, dscores.rows, dscores.cols);
  for (int64_t i = 0; i < dscores.rows; ++i) {
    const real* const bias = bias_of(head, dscores.rows, dscores.cols, i);
    if (dbias.data) {
      real* const to = dbias.data + head.bias_zero + i + dscores.cols - dscores.rows;
      for (int64_t j = 0; j < dscores.cols; ++j) to[-j] += dscores(i, j);
    }
    if (shape.softcap == 0) continue;
    for (int64_t j = 0; j < dscores.cols; ++j) {
      const real t = (scores(i, j) - (bias ? bias[-j] : 0)) / shape.softcap;
      result(i, j) = dscores(i, j) * (1 - t * t);
    }
  }
  return shape.softcap > 0 ? ConstMatrix(result) : dscores;
}

}  // namespace

// dQ += scale·dscores·K;  dK += scale·dscoresᵀ·Q
void scores_backward(const AttentionShape& shape, const AttentionJob& head, ConstMatrix scores, ConstMatrix dscores,
                     const AttentionGradients& gradients) {
  Scratch scratch(shape.softcap > 0 ? dscores.size() : 0);
  dscores = uncapped(shape, head, scores, dscores, gradients.dbias, scratch.take(dscores.size()));
  const real* scale = &shape.scale;
  multiply_small({.a = as_is(dscores), .b = head.k, .c = gradients.dq, .alpha = scale, .accumulate = true});
  multiply_small({.a = transposed(dscores), .b = head.q, .c = gradients.dk, .alpha = scale, .accumulate = true});
}

// dscores += dmasked where the query sees the key
void mask_backward(const AttentionShape& shape, ConstMatrix dmasked, Matrix dscores) {
  for (int64_t i = 0; i < dmasked.rows; ++i) {
    const real* from = dmasked.row(i);
    real* to = dscores.row(i);
    const kernels::SeenKeys seen = keys_seen(shape, dmasked.rows, dmasked.cols, i);
    for_each_vector(seen.end - seen.begin, [&](int64_t at, auto part) HWY_ATTR {
      const int64_t j = seen.begin + at;
      part.store(hn::Add(part.load(to + j), part.load(from + j)), to + j);
    });
  }
}

// P = exp(masked - max)/Σ_j exp(masked - max)
void softmax_forward(ConstMatrix masked, Matrix pattern) {
  const Reals d;
  for (int64_t i = 0; i < masked.rows; ++i) {
    const real* x = masked.row(i);
    real* p = pattern.row(i);
    const RealVec max = hn::Set(d, max_along(x, masked.cols));
    RealVec sum = hn::Zero(d);
    for_each_vector(masked.cols, [&](int64_t j, auto part) HWY_ATTR {
      const RealVec e = exp(d, hn::Sub(part.load(x + j), max));
      sum = hn::Add(sum, part.zero_rest(e));
      part.store(e, p + j);
    });
    const RealVec factor = hn::Set(d, 1 / sum_lanes(d, sum));
    for_each_vector(masked.cols,
                    [&](int64_t j, auto part) HWY_ATTR { part.store(hn::Mul(part.load(p + j), factor), p + j); });
  }
}

// dmasked += P∘(dP - Σ_j P∘dP)
void softmax_backward(ConstMatrix pattern, ConstMatrix dpattern, Matrix dmasked) {
  const Reals d;
  for (int64_t i = 0; i < pattern.rows; ++i) {
    const real* p = pattern.row(i);
    const real* dp = dpattern.row(i);
    real* to = dmasked.row(i);
    RealVec sum = hn::Zero(d);
    for_each_vector(pattern.cols, [&](int64_t j, auto part) HWY_ATTR {
      sum = hn::MulAdd(part.load(p + j), part.load(dp + j), sum);  // zero beyond the row
    });
    const RealVec delta = hn::Set(d, sum_lanes(d, sum));
    for_each_vector(pattern.cols, [&](int64_t j, auto part) HWY_ATTR {
      const RealVec difference = hn::Sub(part.load(dp + j), delta);
      part.store(hn::MulAdd(part.load(p + j), difference, part.load(to + j)), to + j);
    });
  }
}

namespace {

// Queries whose pairs are dropped into a buffer at a time.
constexpr int64_t kDropQueries = 64;

// drop(x) of whole rows of pairs, the first of this index: x itself or a copy in buffer.
ConstMatrix dropped(const Dropout& dropout, int64_t index, ConstMatrix x, real* buffer) {
  if (dropout.rate <= 0) return x;
  drop_along(DropoutMask(dropout), static_cast<uint64_t>(index), x.data, x.size(), buffer);
  return {buffer, x.rows, x.cols};
}

}  // namespace

// z = drop(P)·V
void values_forward(const Dropout& dropout, int64_t index, const AttentionJob& head, ConstMatrix pattern) {
  Scratch scratch(kDropQueries * pattern.cols);
  real* buffer = scratch.take(kDropQueries * pattern.cols);
  for (int64_t i = 0; i < pattern.rows; i += kDropQueries) {
    const ConstMatrix rows = pattern.rows_from(i, std::min(kDropQueries, pattern.rows - i));
    const ConstMatrix kept = dropped(dropout, index + i * pattern.cols, rows, buffer);
    multiply_small({.a = as_is(kept), .b = head.v, .c = head.z.rows_from(i, rows.rows)});
  }
}

// dV += drop(P)ᵀ·dz;  dP += drop(dz·Vᵀ)
void values_backward(const Dropout& dropout, int64_t index, const AttentionJob& head, ConstMatrix pattern,
                     Matrix dpattern, const AttentionGradients& gradients) {
  const int64_t m = pattern.cols, v_t_size = head.v.cols * whole_vectors(m);
  if (m == 0) return;
  Scratch scratch(2 * Scratch::aligned(kDropQueries * m) + Scratch::aligned(v_t_size));
  real* buffer = scratch.take(kDropQueries * m);
  real* products = scratch.take(kDropQueries * m);
  const ConstMatrix v_t = pack_transposed(head.v, scratch.take(v_t_size));
  for (int64_t i = 0; i < pattern.rows; i += kDropQueries) {
    const ConstMatrix rows = pattern.rows_from(i, std::min(kDropQueries, pattern.rows - i));
    const ConstMatrix dz = gradients.dz.rows_from(i, rows.rows);
    const ConstMatrix kept = dropped(dropout, index + i * m, rows, buffer);
    multiply_small({.a = transposed(kept), .b = dz, .c = gradients.dv, .accumulate = true});

    multiply_small({.a = as_is(dz), .b = v_t, .c = Matrix(products, rows.rows, m)});
    const ConstMatrix dkept = dropped(dropout, index + i * m, ConstMatrix(products, rows.rows, m), buffer);
    real* to = dpattern.row(i);
    for_each_vector(rows.size(), [&](int64_t j, auto part) HWY_ATTR {
      part.store(hn::Add(part.load(to + j), part.load(dkept.data + j)), to + j);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::kernels {
namespace {

HWY_EXPORT(scores_forward);
HWY_EXPORT(scores_backward);
HWY_EXPORT(mask_backward);
HWY_EXPORT(softmax_forward);
HWY_EXPORT(softmax_backward);
HWY_EXPORT(values_forward);
HWY_EXPORT(values_backward);

// One head of one job and where its pairs lie among all.
struct StepHead {
  int64_t job, number, start, n, m;

  Matrix of(real* pairs) const { return {pairs + start, n, m}; }
  ConstMatrix of(const real* pairs) const { return {pairs + start, n, m}; }
};

// The heads that share a head of keys come one after another in one thread, because they add to the same gradients.
void for_each_head(const AttentionShape& shape, const std::vector<AttentionJob>& jobs,
                   const std::function<void(const StepHead&)>& body) {
  for_each_piece(shape, jobs, kAllQueries, [&](const AttentionPiece& piece) {
    const int64_t n = jobs[piece.job].q.rows, m = jobs[piece.job].k.rows;
    for (int64_t i = piece.head_begin; i < piece.head_end; ++i)
      body({piece.job, i, piece.pair_start + i * n * m, n, m});
  });
}

}  // namespace

int64_t pair_count(const AttentionShape& shape, const std::vector<AttentionJob>& jobs) {
  int64_t count = 0;
  for (const AttentionJob& job : jobs) count += shape.heads * job.q.rows * job.k.rows;
  return count;
}

void attention_scores_forward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, real* scores) {
  for_each_head(shape, jobs, [&](const StepHead& head) {
    HWY_DYNAMIC_DISPATCH(scores_forward)(shape, head_of(shape, jobs[head.job], head.number), head.of(scores));
  });
}

void attention_scores_backward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, const real* scores,
                               const real* dscores, const std::vector<AttentionGradients>& gradients) {
  for_each_head(shape, jobs, [&](const StepHead& head) {
    HWY_DYNAMIC_DISPATCH(scores_backward)
    (shape, head_of(shape, jobs[head.job], head.number), head.of(scores), head.of(dscores),
     head_of(shape, gradients[head.job], head.number));
  });
}

void attention_mask_forward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, const real* scores,
                            real* masked) {
  for_each_head(shape, jobs, [&](const StepHead& head) {
    for (int64_t i = 0; i < head.n; ++i) {
      const SeenKeys seen = keys_seen(shape, head.n, head.m, i);
      real* const to = head.of(masked).row(i);
      std::fill_n(to, head.m, -std::numeric_limits<real>::infinity());
      std::copy_n(head.of(scores).row(i) + seen.begin, seen.end - seen.begin, to + seen.begin);
    }
  });
}

void attention_mask_backward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, const real* dmasked,
                             real* dscores) {
  for_each_head(shape, jobs, [&](const StepHead& head) {
    HWY_DYNAMIC_DISPATCH(mask_backward)(shape, head.of(dmasked), head.of(dscores));
  });
}

void attention_softmax_forward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, const real* masked,
                               real* pattern) {
  for_each_head(shape, jobs, [&](const StepHead& head) {
    HWY_DYNAMIC_DISPATCH(softmax_forward)(head.of(masked), head.of(pattern));
  });
}

void attention_softmax_backward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, const real* pattern,
                                const real* dpattern, real* dmasked) {
  for_each_head(shape, jobs, [&](const StepHead& head) {
    HWY_DYNAMIC_DISPATCH(softmax_backward)(head.of(pattern), head.of(dpattern), head.of(dmasked));
  });
}

void attention_values_forward(const AttentionShape& shape, const Dropout& dropout,
                              const std::vector<AttentionJob>& jobs, const real* pattern) {
  for_each_head(shape, jobs, [&](const StepHead& head) {
    HWY_DYNAMIC_DISPATCH(values_forward)
    (dropout, head.start, head_of(shape, jobs[head.job], head.number), head.of(pattern));
  });
}

void attention_values_backward(const AttentionShape& shape, const Dropout& dropout,
                               const std::vector<AttentionJob>& jobs, const real* pattern, real* dpattern,
                               const std::vector<AttentionGradients>& gradients) {
  for_each_head(shape, jobs, [&](const StepHead& head) {
    HWY_DYNAMIC_DISPATCH(values_backward)
    (dropout, head.start, head_of(shape, jobs[head.job], head.number), head.of(pattern), head.of(dpattern),
     head_of(shape, gradients[head.job], head.number));
  });
}

}  // namespace limpid::kernels
#endif
