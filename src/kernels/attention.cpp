#include "kernels/attention.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include <hwy/foreach_target.h>

#include <hwy/contrib/math/math-inl.h>

#include <cmath>
#include <limits>

#include "kernels/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid {
namespace HWY_NAMESPACE {
namespace {

// pairs = cap(pairs) + bias
void apply_rule(const QueryBlock& block, const ScoreRule& rule, Matrix pairs) {
  if (rule.none()) return;
  for (int64_t i = 0; i < block.count; i += kLanes) {
    const int64_t lanes = std::min(kLanes, block.count - i);
    for (int64_t j = block.unseen(i); j < block.seen(i + kLanes - 1); ++j) {
      real* const pair = pairs.row(j) + i;
      hn::StoreU(rule(hn::LoadU(Reals(), pair), i, lanes, j), Reals(), pair);
    }
  }
}

// Of queries i … i + kLanes - 1: pairs = drop(exp(scores - max)), unscaled; scales = keep_scale/Σ exp; returns
// max + log Σ exp.
template <class Drop>
RealVec softmax_down(const QueryBlock& block, int64_t i, const Drop& drop, real keep_scale, Matrix pairs,
                     real* scales) {
  const Reals d;
  RealVec max = hn::Set(d, hwy::LowestValue<real>());
  for_each_key(block, i, [&](int64_t j, auto see) HWY_ATTR {
    max = hn::Max(max, see.else_lowest(hn::LoadU(d, pairs.row(j) + i)));
  });
  RealVec sum = hn::Zero(d);
  for_each_key(block, i, [&](int64_t j, auto see) HWY_ATTR {
    real* pair = pairs.row(j) + i;
    RealVec e = see.else_zero(exp(d, hn::Sub(hn::LoadU(d, pair), max)));
    sum = hn::Add(sum, e);
    if constexpr (Drop::kDrops) e = hn::IfThenElseZero(drop.keep(d, block.begin + i, block.low + j), e);
    hn::StoreU(e, d, pair);
  });
  zero_unseen(block, i, pairs);
  hn::StoreU(hn::Div(hn::Set(d, keep_scale), sum), d, scales + i);
  return hn::Add(max, hn::Log(d, sum));
}

template <class Drop>
void forward_block(const AttentionShape& shape, const QueryBlock& block, const AttentionJob& head, const Drop& drop,
                   real keep_scale, Scratch scratch, real* log_sums) {
  const ConstMatrix q = head.q.rows_from(block.begin, block.count);
  const ConstMatrix q_t = pack_transposed(q, scratch.take(shape.head_size * block.stride));
  const Matrix pairs(scratch.take(block.keys * block.stride), block.keys, block.stride);
  real* scales = scratch.take(block.stride);
  pair_products(block, block.of(head.k), q_t, shape.scale, pairs);
  apply_rule(block, ScoreRule(shape, head, block), pairs);
  for (int64_t i = 0; i < block.count; i += kLanes) {
    const RealVec log_sum = softmax_down(block, i, drop, keep_scale, pairs, scales);
    const int64_t lanes = std::min(kLanes, block.count - i);
    if (log_sums) store_partial(log_sum, Reals(), log_sums + block.begin + i, static_cast<size_t>(lanes));
  }
  gather_keys(block, pairs, block.of(head.v), scales, 1, head.z.rows_from(block.begin, block.count), false);
}

}  // namespace

void attention_blocks_piece(const AttentionShape& shape, const Dropout& dropout, const AttentionJob& job,
                            const AttentionPiece& piece, real* log_sums) {
  const int64_t n = job.q.rows, m = job.k.rows, step = block_queries(m);
  const int64_t most = whole_vectors(std::min(piece.end - piece.begin, step));
  const Scratch scratch(Scratch::aligned(shape.head_size * most) + Scratch::aligned(m * most) + Scratch::aligned(most));
  for (int64_t i = piece.head_begin; i < piece.head_end; ++i) {
    const AttentionJob head = head_of(shape, job, i);
    real* sums = log_sums ? log_sums + piece.row_start + i * n : nullptr;
    for (int64_t begin = piece.begin; begin < piece.end; begin += step) {
      const QueryBlock block(shape, n, m, begin, std::min(step, piece.end - begin));
      if (dropout.rate > 0) {
        const PairDropout drop(dropout, static_cast<uint64_t>(piece.pair_start + i * n * m), m);
        forward_block(shape, block, head, drop, dropout_scale(dropout.rate), scratch, sums);
      } else {
        forward_block(shape, block, head, NoDropout(), real(1), scratch, sums);
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

HWY_EXPORT(attention_blocks_piece);

// Pieces of a long sequence: enough queries to pay for reading the keys again, few enough to keep many threads busy.
constexpr int64_t kPieceQueries = 256;

// With so few queries packing costs more than it saves.
constexpr int64_t kFewQueries = 4;

// Without a key there is nothing to add up.
void attend_to_nothing(const AttentionShape& shape, const AttentionJob& job, const AttentionPiece& piece,
                       real* log_sums) {
  for (int64_t i = piece.head_begin; i < piece.head_end; ++i) {
    const Matrix z = head_of(shape, job, i).z;
    for (int64_t row = piece.begin; row < piece.end; ++row) {
      std::fill_n(z.row(row), z.cols, real(0));
      if (log_sums) log_sums[piece.row_start + i * z.rows + row] = -std::numeric_limits<real>::infinity();
    }
  }
}

}  // namespace

void attention_forward(const AttentionShape& shape, const Dropout& dropout, const std::vector<AttentionJob>& jobs,
                       real* log_sums) {
  for_each_piece(shape, jobs, kPieceQueries, [&](const AttentionPiece& piece) {
    const AttentionJob& job = jobs[piece.job];
    if (job.k.rows == 0)
      attend_to_nothing(shape, job, piece, log_sums);
    else if (job.q.rows <= kFewQueries)
      attention_rows(shape, dropout, job, piece, log_sums);
    else
      HWY_DYNAMIC_DISPATCH(attention_blocks_piece)(shape, dropout, job, piece, log_sums);
  });
}

// Pieces whose pairs stay in the second-level cache, while a key serves several queries from the first.
void cached_attention_forward(const AttentionShape& shape, const std::vector<AttentionJob>& jobs) {
  constexpr int64_t kPieceRows = 16;
  for_each_piece(shape, jobs, kPieceRows, [&](const AttentionPiece& piece) {
    const AttentionJob& job = jobs[piece.job];
    if (job.k.rows == 0)
      attend_to_nothing(shape, job, piece, nullptr);
    else
      attention_rows(shape, {}, job, piece, nullptr);
  });
}

}  // namespace limpid::kernels
#endif
