#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_backward.cpp"
#include <hwy/foreach_target.h>

#include <limits>

#include "kernels/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid {
namespace HWY_NAMESPACE {
namespace {

// The block's pairs, a row for each key: scores, then pattern; dpattern, then dscores; the pattern after dropout.
struct BlockPairs {
  Matrix pattern;
  Matrix dpattern;
  Matrix dropped;  // the pattern itself where nothing is dropped
  Matrix slope;    // of the cap on scores; none without it
};

// Of queries i … i + kLanes - 1, given the logarithm of their sums:
//   P = exp(scores - log_sum);  dP = drop(dpattern);  dscores = P∘(dP - Σ_j P∘dP / Σ_j P)
// Σ_j P is one but for rounding; dividing by it keeps the sum of a query's dscores at zero, on which the gradient of a
// bias of the keys rests.
template <class Drop>
void softmax_down_backward(const QueryBlock& block, int64_t i, RealVec log_sum, const ScoreRule& rule, const Drop& drop,
                           const BlockPairs& pairs) {
  const Reals d;
  const int64_t lanes = std::min(kLanes, block.count - i);
  RealVec delta = hn::Zero(d), sum = hn::Zero(d);
  for_each_key(block, i, [&](int64_t j, auto see) HWY_ATTR {
    RealVec score = hn::LoadU(d, pairs.pattern.row(j) + i);
    if (!rule.none()) score = rule(score, i, lanes, j, pairs.slope.data ? pairs.slope.row(j) + i : nullptr);
    const RealVec p = see.else_zero(exp(d, hn::Sub(score, log_sum)));
    RealVec dp = hn::LoadU(d, pairs.dpattern.row(j) + i);
    hn::StoreU(p, d, pairs.pattern.row(j) + i);
    if constexpr (Drop::kDrops) {
      const auto keep = drop.keep(d, block.begin + i, block.low + j);
      dp = hn::IfThenElseZero(keep, dp);
      hn::StoreU(dp, d, pairs.dpattern.row(j) + i);
      hn::StoreU(hn::IfThenElseZero(keep, p), d, pairs.dropped.row(j) + i);
    }
    delta = hn::MulAdd(p, dp, delta);
    sum = hn::Add(sum, p);
  });
  const RealVec unseen = hn::Set(d, std::numeric_limits<real>::min());  // lanes beyond the last query see no key
  delta = hn::Div(delta, hn::Max(sum, unseen));
  const int64_t seen = block.seen(i + kLanes - 1);
  for (int64_t j = block.unseen(i); j < seen; ++j) {
    real* dpattern = pairs.dpattern.row(j) + i;
    const RealVec difference = hn::Sub(hn::LoadU(d, dpattern), delta);
    hn::StoreU(hn::Mul(hn::LoadU(d, pairs.pattern.row(j) + i), difference), d, dpattern);
  }
  zero_unseen(block, i, pairs.dropped);
  zero_unseen(block, i, pairs.dpattern);
}

// dbias += dscores, by distance; then dscores becomes the gradient of what the cap was put on.
void rule_backward(const QueryBlock& block, const ScoreRule& rule, const BlockPairs& pairs, Matrix dbias) {
  for (int64_t j = 0; j < block.keys; ++j) {
    real* const dscores = pairs.dpattern.row(j);
    const int64_t begin = std::min(block.first(j), block.count), end = std::min(block.last(j) + 1, block.count);
    if (dbias.data) {
      real* const to = dbias.data + rule.column(0, j);
      for (int64_t i = begin; i < end; ++i) to[i] += dscores[i];
    }
    if (pairs.slope.data)
      for (int64_t i = begin; i < end; ++i) dscores[i] *= pairs.slope.row(j)[i];
  }
}

//   dV += drop(P)ᵀ·dz;  dQ += scale·dscores·K;  dK += scale·dscoresᵀ·Q
template <class Drop>
void backward_block(const AttentionShape& shape, const QueryBlock& block, const AttentionJob& head,
                    const real* log_sums, const AttentionGradients& gradients, const Drop& drop, real keep_scale,
                    Scratch scratch) {
  const auto take_pairs = [&] { return Matrix(scratch.take(block.keys * block.stride), block.keys, block.stride); };
  const ConstMatrix q = head.q.rows_from(block.begin, block.count);
  const ConstMatrix dz = gradients.dz.rows_from(block.begin, block.count);
  const ConstMatrix q_t = pack_transposed(q, scratch.take(shape.head_size * block.stride));
  const ConstMatrix dz_t = pack_transposed(dz, scratch.take(shape.head_size * block.stride));
  BlockPairs pairs{take_pairs(), take_pairs(), {}, {}};
  pairs.dropped = Drop::kDrops ? take_pairs() : pairs.pattern;
  if (shape.softcap > 0) pairs.slope = take_pairs();
  const ScoreRule rule(shape, head, block);

  pair_products(block, block.of(head.k), q_t, shape.scale, pairs.pattern);
  pair_products(block, block.of(head.v), dz_t, keep_scale, pairs.dpattern);
  for (int64_t i = 0; i < block.count; i += kLanes) {
    const int64_t lanes = std::min(kLanes, block.count - i);
    const RealVec log_sum = load_partial(Reals(), log_sums + block.begin + i, static_cast<size_t>(lanes));
    softmax_down_backward(block, i, log_sum, rule, drop, pairs);
  }
  if (!rule.none()) rule_backward(block, rule, pairs, gradients.dbias);
  gather_queries(block, pairs.dropped, dz, keep_scale, block.of(gradients.dv));
  gather_queries(block, pairs.dpattern, q, shape.scale, block.of(gradients.dk));
  gather_keys(block, pairs.dpattern, block.of(head.k), &shape.scale, 0,
              gradients.dq.rows_from(block.begin, block.count), true);
}

}  // namespace

void attention_backward_piece(const AttentionShape& shape, const Dropout& dropout, const AttentionJob& job,
                              const AttentionPiece& piece, const real* log_sums, const AttentionGradients& gradients) {
  const int64_t n = job.q.rows, m = job.k.rows, step = block_queries(m), most = whole_vectors(std::min(n, step));
  const bool drops = dropout.rate > 0;
  const int64_t buffers = 2 + (drops ? 1 : 0) + (shape.softcap > 0 ? 1 : 0);
  const Scratch scratch(2 * Scratch::aligned(shape.head_size * most) + buffers * Scratch::aligned(m * most));
  for (int64_t i = piece.head_begin; i < piece.head_end; ++i) {
    const AttentionJob head = head_of(shape, job, i);
    const AttentionGradients head_gradients = head_of(shape, gradients, i);
    const real* sums = log_sums + piece.row_start + i * n;
    for (int64_t begin = 0; begin < n; begin += step) {
      const QueryBlock block(shape, n, m, begin, std::min(step, n - begin));
      if (drops) {
        const PairDropout drop(dropout, static_cast<uint64_t>(piece.pair_start + i * n * m), m);
        backward_block(shape, block, head, sums, head_gradients, drop, dropout_scale(dropout.rate), scratch);
      } else {
        backward_block(shape, block, head, sums, head_gradients, NoDropout(), real(1), scratch);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::kernels {
namespace {
HWY_EXPORT(attention_backward_piece);
}  // namespace

void attention_backward(const AttentionShape& shape, const Dropout& dropout, const std::vector<AttentionJob>& jobs,
                        const real* log_sums, const std::vector<AttentionGradients>& gradients) {
  // All queries of a sequence in one piece: they add to the same dk and dv.
  for_each_piece(shape, jobs, kAllQueries, [&](const AttentionPiece& piece) {
    HWY_DYNAMIC_DISPATCH(attention_backward_piece)
    (shape, dropout, jobs[piece.job], piece, log_sums, gradients[piece.job]);
  });
}

}  // namespace limpid::kernels
#endif
