#include "kernels/attention.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include <hwy/foreach_target.h>

#include <hwy/contrib/math/math-inl.h>

#include <cmath>
#include <limits>

#include "kernels/attention-inl.h"
#include "kernels/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid {
namespace HWY_NAMESPACE {
namespace {

// ---- blocks of queries ----

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

void forward_blocks(const AttentionShape& shape, const Dropout& dropout, const AttentionJob& job,
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

// ---- few queries: decoding ----

// With so few queries packing costs more than it saves: a score is a dot product along the head, and the lanes of the
// softmax are keys. The keys and values of all heads lie side by side, so every row is read for all heads of a piece
// before the next one: memory delivers whole rows faster than the parts of one head.
constexpr int64_t kFewQueries = 4;

// Adds up the 128-bit blocks of x.
template <class D>
HWY_INLINE void store_block_sum(D d, hn::Vec<D> x, real* to) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > kBlockLanes) {
    const hn::Half<D> half;
    return store_block_sum(half, hn::Add(hn::LowerHalf(half, x), hn::UpperHalf(half, x)), to);
  }
#endif
  hn::StoreU(x, d, to);
}

// factor times the sums over the lanes of v[0], …, v[kBlockLanes - 1], stored one after another.
HWY_INLINE void store_sums(RealVec (&v)[kBlockLanes], real factor, real* to) {
  transpose_blocks(Reals(), v);
  RealVec sum = v[0];
  for (int64_t r = 1; r < kBlockLanes; ++r) sum = hn::Add(sum, v[r]);
  store_block_sum(Reals(), hn::Mul(sum, hn::Set(Reals(), factor)), to);
}

// scores[r] = scale·x·keys[r] over n numbers, the keys from a column on.
void dot_keys(const real* x, int64_t n, const real* const (&keys)[kBlockLanes], int64_t column, real scale,
              real* scores) {
  const Reals d;
  RealVec sum[kBlockLanes];
  for (RealVec& of_key : sum) of_key = hn::Zero(d);
  for_each_vector(n, [&](int64_t p, auto part) HWY_ATTR {
    const RealVec factor = part.load(x + p);
    for (int64_t r = 0; r < kBlockLanes; ++r) sum[r] = hn::MulAdd(factor, part.load(keys[r] + column + p), sum[r]);
  });
  store_sums(sum, scale, scores);
}

// scores = exp(scores - max) for the first n; sets sum and returns the maximum.
real softmax_along(real* scores, int64_t n, real* sum) {
  const Reals d;
  const real max = max_along(scores, n);
  RealVec sums = hn::Zero(d);
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
    const RealVec e = exp(d, hn::Sub(part.load(scores + j), hn::Set(d, max)));
    sums = hn::Add(sums, part.zero_rest(e));
    part.store(e, scores + j);
  });
  *sum = sum_lanes(d, sums);
  return max;
}

// scores = cap(scores) + bias of one query at this place among the keys, of which the first has number `begin`.
void apply_rule_along(const AttentionShape& shape, const AttentionJob& head, int64_t place, int64_t begin, int64_t n,
                      real* scores) {
  if (shape.softcap > 0) {
    const Reals d;
    const RealVec cap = hn::Set(d, shape.softcap), share = hn::Set(d, 1 / shape.softcap);
    for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
      part.store(hn::Mul(cap, hn::Tanh(d, hn::Mul(part.load(scores + j), share))), scores + j);
    });
  }
  if (!head.bias.data) return;
  const real* const bias = head.bias.data + head.bias_zero + place - begin;
  for (int64_t j = 0; j < n; ++j) scores[j] += bias[-j];
}

// Some heads of a job of few queries; pairs and scales are (heads, N).
struct FewQueries {
  const AttentionShape& shape;
  const AttentionJob& job;
  int64_t head_begin, head_end;
  Matrix pairs;  // with every key
  real* scales;

  int64_t row(int64_t head, int64_t query) const { return (head - head_begin) * job.q.rows + query; }
  int64_t heads_per_key() const { return shape.heads / shape.kv_heads; }
  int64_t place(int64_t key) const { return job.rows ? job.rows[key] : key; }
};

// pairs = scale·Q·Kᵀ, and something without meaning behind the last key.
void score_keys(const FewQueries& few) {
  const int64_t n = few.job.q.rows, m = few.job.k.rows, size = few.shape.head_size, heads = few.heads_per_key();
  for (int64_t key = 0; key < m; key += kBlockLanes) {
    const real* keys[kBlockLanes];
    for (int64_t r = 0; r < kBlockLanes; ++r) keys[r] = few.job.k.row(few.place(std::min(key + r, m - 1)));
    for (int64_t first = few.head_begin, column = first / heads * size; first < few.head_end;
         first += heads, column += size)
      for (int64_t head = first; head < first + heads; ++head)
        for (int64_t i = 0; i < n; ++i)
          dot_keys(few.job.q.row(i) + head * size, size, keys, column, few.shape.scale,
                   few.pairs.row(few.row(head, i)) + key);
  }
}

// z = scales·pairs·V of one query under kHeads heads, kVectors vectors of columns, the last of which `part` loads and
// stores: so a row of V is read in one go.
template <int64_t kHeads, int64_t kVectors, class Part>
HWY_INLINE void gather_tile(const FewQueries& few, int64_t query, int64_t head, int64_t column, Part part) {
  const Reals d;
  constexpr int64_t kLast = kVectors - 1;
  const real *pairs[kHeads], *values[kHeads];
  RealVec sums[kHeads][kVectors];
  unroll<kHeads>([&](auto h) HWY_ATTR {
    pairs[h] = few.pairs.row(few.row(head + h, query));
    values[h] = few.job.v.data + (head + h) / few.heads_per_key() * few.shape.head_size + column;
    unroll<kVectors>([&](auto v) HWY_ATTR { sums[h][v] = hn::Zero(d); });
  });
  const int64_t keys = few.job.v.rows, stride = few.job.v.stride;
  for (int64_t j = 0; j < keys; ++j) {
    const int64_t at = few.place(j) * stride;
    unroll<kHeads>([&](auto h) HWY_ATTR {
      const RealVec pair = hn::Set(d, pairs[h][j]);
      const real* const from = values[h] + at;
      unroll<kLast>([&](auto v)
                        HWY_ATTR { sums[h][v] = hn::MulAdd(pair, hn::LoadU(d, from + v * kLanes), sums[h][v]); });
      sums[h][kLast] = hn::MulAdd(pair, part.load(from + kLast * kLanes), sums[h][kLast]);
    });
  }
  unroll<kHeads>([&](auto h) HWY_ATTR {
    const RealVec scale = hn::Set(d, few.scales[few.row(head + h, query)]);
    real* const z = few.job.z.row(query) + (head + h) * few.shape.head_size + column;
    unroll<kLast>([&](auto v) HWY_ATTR { hn::StoreU(hn::Mul(scale, sums[h][v]), d, z + v * kLanes); });
    part.store(hn::Mul(scale, sums[h][kLast]), z + kLast * kLanes);
  });
}

// Heads of kVectors whole vectors from `head` on, kHeads at a time, and what remains fewer at a time.
template <int64_t kHeads, int64_t kVectors>
void gather_heads(const FewQueries& few, int64_t query, int64_t head) {
  for (; head + kHeads <= few.head_end; head += kHeads)
    gather_tile<kHeads, kVectors>(few, query, head, 0, WholeVector());
  if constexpr (kHeads > 1) gather_heads<kHeads / 2, kVectors>(few, query, head);
}

// Heads of any size.
void gather_head(const FewQueries& few, int64_t query, int64_t head) {
  const int64_t size = few.shape.head_size;
  int64_t column = 0;
  for (; column + 4 * kLanes <= size; column += 4 * kLanes) gather_tile<1, 4>(few, query, head, column, WholeVector());
  for (; column + kLanes <= size; column += kLanes) gather_tile<1, 1>(few, query, head, column, WholeVector());
  if (column < size) gather_tile<1, 1>(few, query, head, column, PartVector{static_cast<size_t>(size - column)});
}

void gather_values(const FewQueries& few, int64_t query) {
  constexpr int64_t kSums = kManyRegisters ? 16 : 8;
  switch (few.shape.head_size) {
    case kLanes: return gather_heads<4, 1>(few, query, few.head_begin);
    case 2 * kLanes: return gather_heads<4, 2>(few, query, few.head_begin);
    case 4 * kLanes: return gather_heads<kSums / 4, 4>(few, query, few.head_begin);
    case 8 * kLanes: return gather_heads<kSums / 8, 8>(few, query, few.head_begin);
    default:
      for (int64_t head = few.head_begin; head < few.head_end; ++head) gather_head(few, query, head);
  }
}

void forward_few(const AttentionShape& shape, const Dropout& dropout, const AttentionJob& job,
                 const AttentionPiece& piece, real* log_sums) {
  const int64_t n = job.q.rows, m = job.k.rows, low = keys_seen(shape, n, m, 0).begin, keys = m - low;
  const int64_t rows = (piece.head_end - piece.head_begin) * n, stride = whole_vectors(keys);
  Scratch scratch(Scratch::aligned(rows * stride) + Scratch::aligned(rows));
  const Matrix pairs(scratch.take(rows * stride), rows, keys, stride);
  AttentionJob near = job;  // without the keys that no query sees
  if (job.rows) {
    near.rows += low;
    near.k.rows = near.v.rows = keys;
  } else {
    near.k = job.k.rows_from(low, keys);
    near.v = job.v.rows_from(low, keys);
  }
  const FewQueries few{shape, near, piece.head_begin, piece.head_end, pairs, scratch.take(rows)};

  score_keys(few);
  const DropoutMask mask(dropout);
  for (int64_t row = 0; row < rows; ++row) {
    real* const of_row = pairs.row(row);
    const kernels::SeenKeys seen = keys_seen(shape, n, m, row % n);
    const int64_t begin = seen.begin - low, count = seen.end - seen.begin;
    apply_rule_along(shape, head_of(shape, job, piece.head_begin + row / n), row % n + m - n, seen.begin, count,
                     of_row + begin);
    real sum;
    const real max = softmax_along(of_row + begin, count, &sum);
    std::fill(of_row, of_row + begin, real(0));
    std::fill(of_row + begin + count, of_row + keys, real(0));
    if (log_sums) log_sums[piece.row_start + piece.head_begin * n + row] = max + std::log(sum);
    const uint64_t index = static_cast<uint64_t>(piece.pair_start + (piece.head_begin * n + row) * m + seen.begin);
    if (dropout.rate > 0) drop_along(mask, index, of_row + begin, count, of_row + begin);
    few.scales[row] = 1 / sum;
  }
  for (int64_t i = 0; i < n; ++i) gather_values(few, i);
}

// Without a key there is nothing to add up.
void forward_nothing(const AttentionShape& shape, const AttentionJob& job, const AttentionPiece& piece,
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

void attention_forward_piece(const AttentionShape& shape, const Dropout& dropout, const AttentionJob& job,
                             const AttentionPiece& piece, real* log_sums) {
  if (job.k.rows == 0) return forward_nothing(shape, job, piece, log_sums);
  if (job.q.rows <= kFewQueries) return forward_few(shape, dropout, job, piece, log_sums);
  forward_blocks(shape, dropout, job, piece, log_sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::kernels {
namespace {

HWY_EXPORT(attention_forward_piece);

// Pieces of a long sequence: enough queries to pay for reading the keys again, few enough to keep many threads busy.
constexpr int64_t kPieceQueries = 256;

}  // namespace

void attention_forward(const AttentionShape& shape, const Dropout& dropout, const std::vector<AttentionJob>& jobs,
                       real* log_sums) {
  for_each_piece(shape, jobs, kPieceQueries, [&](const AttentionPiece& piece) {
    HWY_DYNAMIC_DISPATCH(attention_forward_piece)(shape, dropout, jobs[piece.job], piece, log_sums);
  });
}

}  // namespace limpid::kernels
#endif
