// Attention of queries one by one: decoding, and prompts that are read into a cache.
//
// A score is a dot product along the head, and the lanes of the softmax are keys. So a query's bits depend on itself
// and on the keys that it sees, however many queries come with it: what is read into a cache has the same bits token by
// token and in any parts.

#include "kernels/attention_work.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_rows.cpp"
#include <hwy/foreach_target.h>

#include <hwy/contrib/math/math-inl.h>

#include <cmath>

#include "kernels/attention-inl.h"
#include "kernels/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid {
namespace HWY_NAMESPACE {
namespace {

// The keys and values of all heads lie side by side. For so few queries a row is read for all heads of a piece before
// the next one, because memory delivers whole rows faster than the parts of one head.
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

// scores[i][r] = scale·queries[i]·keys[r] over n numbers, the keys from a column on.
template <int64_t kQueries>
HWY_INLINE void dot_keys(const real* const (&queries)[kQueries], int64_t n, const real* const (&keys)[kBlockLanes],
                         int64_t column, real scale, real* const (&scores)[kQueries]) {
  const Reals d;
  RealVec sum[kQueries][kBlockLanes];
  unroll<kQueries>([&](auto i) HWY_ATTR { unroll<kBlockLanes>([&](auto r) HWY_ATTR { sum[i][r] = hn::Zero(d); }); });
  for_each_vector(n, [&](int64_t p, auto part) HWY_ATTR {
    RealVec key[kBlockLanes];
    unroll<kBlockLanes>([&](auto r) HWY_ATTR { key[r] = part.load(keys[r] + column + p); });
    unroll<kQueries>([&](auto i) HWY_ATTR {
      const RealVec factor = part.load(queries[i] + p);
      unroll<kBlockLanes>([&](auto r) HWY_ATTR { sum[i][r] = hn::MulAdd(factor, key[r], sum[i][r]); });
    });
  });
  unroll<kQueries>([&](auto i) HWY_ATTR { store_sums(sum[i], scale, scores[i]); });
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

// Queries of a job under some heads, and the keys from the first to the last that one of them sees; pairs and scales
// are (heads, queries).
struct QueryRows {
  const AttentionShape& shape;
  const AttentionJob& job;
  int64_t head_begin, head_end;
  Matrix pairs;  // with every key
  real* scales;

  int64_t row(int64_t head, int64_t query) const { return (head - head_begin) * job.q.rows + query; }
  int64_t heads_per_key() const { return shape.heads / shape.kv_heads; }
  int64_t place(int64_t key) const { return job.rows ? job.rows[key] : key; }
};

// pairs = scale·Q·Kᵀ of kQueries queries from `query` on with a few keys from `key` on.
template <int64_t kQueries>
HWY_INLINE void score_queries(const QueryRows& rows, int64_t head, int64_t query, int64_t key,
                              const real* const (&keys)[kBlockLanes]) {
  const int64_t size = rows.shape.head_size;
  const real* queries[kQueries];
  real* scores[kQueries];
  for (int64_t i = 0; i < kQueries; ++i) {
    queries[i] = rows.job.q.row(query + i) + head * size;
    scores[i] = rows.pairs.row(rows.row(head, query + i)) + key;
  }
  dot_keys<kQueries>(queries, size, keys, head / rows.heads_per_key() * size, rows.shape.scale, scores);
}

// pairs = scale·Q·Kᵀ, and something without meaning behind the last key.
void score_keys(const QueryRows& rows) {
  constexpr int64_t kQueries = kManyRegisters ? 4 : 2;
  const int64_t n = rows.job.q.rows, m = rows.job.k.rows;
  for (int64_t key = 0; key < m; key += kBlockLanes) {
    const real* keys[kBlockLanes];
    for (int64_t r = 0; r < kBlockLanes; ++r) keys[r] = rows.job.k.row(rows.place(std::min(key + r, m - 1)));
    for (int64_t head = rows.head_begin; head < rows.head_end; ++head) {
      int64_t i = 0;
      for (; i + kQueries <= n; i += kQueries) score_queries<kQueries>(rows, head, i, key, keys);
      for (; i < n; ++i) score_queries<1>(rows, head, i, key, keys);
    }
  }
}

// z = scales·pairs·V of one query under kHeads heads, kVectors vectors of columns, the last of which `part` loads and
// stores: so a row of V is read in one go.
template <int64_t kHeads, int64_t kVectors, class Part>
HWY_INLINE void gather_tile(const QueryRows& rows, int64_t query, int64_t head, int64_t column, Part part) {
  const Reals d;
  constexpr int64_t kLast = kVectors - 1;
  const real *pairs[kHeads], *values[kHeads];
  RealVec sums[kHeads][kVectors];
  unroll<kHeads>([&](auto h) HWY_ATTR {
    pairs[h] = rows.pairs.row(rows.row(head + h, query));
    values[h] = rows.job.v.data + (head + h) / rows.heads_per_key() * rows.shape.head_size + column;
    unroll<kVectors>([&](auto v) HWY_ATTR { sums[h][v] = hn::Zero(d); });
  });
  const int64_t keys = rows.job.v.rows, stride = rows.job.v.stride;
  for (int64_t j = 0; j < keys; ++j) {
    const int64_t at = rows.place(j) * stride;
    unroll<kHeads>([&](auto h) HWY_ATTR {
      const RealVec pair = hn::Set(d, pairs[h][j]);
      const real* const from = values[h] + at;
      unroll<kLast>([&](auto v)
                        HWY_ATTR { sums[h][v] = hn::MulAdd(pair, hn::LoadU(d, from + v * kLanes), sums[h][v]); });
      sums[h][kLast] = hn::MulAdd(pair, part.load(from + kLast * kLanes), sums[h][kLast]);
    });
  }
  unroll<kHeads>([&](auto h) HWY_ATTR {
    const RealVec scale = hn::Set(d, rows.scales[rows.row(head + h, query)]);
    real* const z = rows.job.z.row(query) + (head + h) * rows.shape.head_size + column;
    unroll<kLast>([&](auto v) HWY_ATTR { hn::StoreU(hn::Mul(scale, sums[h][v]), d, z + v * kLanes); });
    part.store(hn::Mul(scale, sums[h][kLast]), z + kLast * kLanes);
  });
}

// Heads of kVectors whole vectors from `head` on, kHeads at a time, and what remains fewer at a time.
template <int64_t kHeads, int64_t kVectors>
void gather_heads(const QueryRows& rows, int64_t query, int64_t head) {
  for (; head + kHeads <= rows.head_end; head += kHeads)
    gather_tile<kHeads, kVectors>(rows, query, head, 0, WholeVector());
  if constexpr (kHeads > 1) gather_heads<kHeads / 2, kVectors>(rows, query, head);
}

// Heads of any size.
void gather_head(const QueryRows& rows, int64_t query, int64_t head) {
  const int64_t size = rows.shape.head_size;
  int64_t column = 0;
  for (; column + 4 * kLanes <= size; column += 4 * kLanes) gather_tile<1, 4>(rows, query, head, column, WholeVector());
  for (; column + kLanes <= size; column += kLanes) gather_tile<1, 1>(rows, query, head, column, WholeVector());
  if (column < size) gather_tile<1, 1>(rows, query, head, column, PartVector{static_cast<size_t>(size - column)});
}

// z of one query under all heads.
void gather_values(const QueryRows& rows, int64_t query) {
  constexpr int64_t kSums = kManyRegisters ? 16 : 8;
  switch (rows.shape.head_size) {
    case kLanes: return gather_heads<4, 1>(rows, query, rows.head_begin);
    case 2 * kLanes: return gather_heads<4, 2>(rows, query, rows.head_begin);
    case 4 * kLanes: return gather_heads<kSums / 4, 4>(rows, query, rows.head_begin);
    case 8 * kLanes: return gather_heads<kSums / 8, 8>(rows, query, rows.head_begin);
    default:
      for (int64_t head = rows.head_begin; head < rows.head_end; ++head) gather_head(rows, query, head);
  }
}

// z of all queries under one head.
void gather_values_of_head(const QueryRows& rows, int64_t head) {
  const AttentionJob of_head = head_of(rows.shape, rows.job, head);
  const int64_t first = rows.row(head, 0);
  multiply_small({.a = as_is(rows.pairs.rows_from(first, rows.job.q.rows)),
                  .b = of_head.v,
                  .c = of_head.z,
                  .alpha = rows.scales + first,
                  .alpha_step = 1});
}

// The queries of a piece under some of its heads.
void forward_heads(const AttentionShape& shape, const Dropout& dropout, const AttentionJob& job,
                   const AttentionPiece& piece, int64_t head_begin, int64_t head_end, real* log_sums) {
  const int64_t n = job.q.rows, m = job.k.rows, queries = piece.end - piece.begin;
  const int64_t low = keys_seen(shape, n, m, piece.begin).begin;
  const int64_t keys = keys_seen(shape, n, m, piece.end - 1).end - low;
  const int64_t count = (head_end - head_begin) * queries, stride = whole_vectors(keys);
  Scratch scratch(Scratch::aligned(count * stride) + Scratch::aligned(count));
  const Matrix pairs(scratch.take(count * stride), count, keys, stride);
  AttentionJob part = job;  // these queries, without the keys that none of them sees
  part.q = job.q.rows_from(piece.begin, queries);
  part.z = job.z.rows_from(piece.begin, queries);
  if (job.rows) {
    part.rows += low;
    part.k.rows = part.v.rows = keys;
  } else {
    part.k = job.k.rows_from(low, keys);
    part.v = job.v.rows_from(low, keys);
  }
  const QueryRows rows{shape, part, head_begin, head_end, pairs, scratch.take(count)};

  score_keys(rows);
  const DropoutMask mask(dropout);
  for (int64_t row = 0; row < count; ++row) {
    real* const of_row = pairs.row(row);
    const int64_t head = head_begin + row / queries, query = piece.begin + row % queries;
    const kernels::SeenKeys seen = keys_seen(shape, n, m, query);
    const int64_t begin = seen.begin - low, sees = seen.end - seen.begin;
    apply_rule_along(shape, head_of(shape, job, head), query + m - n, seen.begin, sees, of_row + begin);
    real sum;
    const real max = softmax_along(of_row + begin, sees, &sum);
    std::fill(of_row, of_row + begin, real(0));
    std::fill(of_row + begin + sees, of_row + keys, real(0));
    if (log_sums) log_sums[piece.row_start + head * n + query] = max + std::log(sum);
    const auto index = static_cast<uint64_t>(piece.pair_start + (head * n + query) * m + seen.begin);
    if (dropout.rate > 0) drop_along(mask, index, of_row + begin, sees, of_row + begin);
    rows.scales[row] = 1 / sum;
  }
  if (queries <= kFewQueries)
    for (int64_t i = 0; i < queries; ++i) gather_values(rows, i);
  else
    for (int64_t head = head_begin; head < head_end; ++head) gather_values_of_head(rows, head);
}

}  // namespace

void attention_rows_piece(const AttentionShape& shape, const Dropout& dropout, const AttentionJob& job,
                          const AttentionPiece& piece, real* log_sums) {
  const bool few = piece.end - piece.begin <= kFewQueries;
  const int64_t together = few ? piece.head_end - piece.head_begin : shape.heads / shape.kv_heads;
  for (int64_t head = piece.head_begin; head < piece.head_end; head += together)
    forward_heads(shape, dropout, job, piece, head, head + together, log_sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::kernels {
namespace {
HWY_EXPORT(attention_rows_piece);
}  // namespace

void attention_rows(const AttentionShape& shape, const Dropout& dropout, const AttentionJob& job,
                    const AttentionPiece& piece, real* log_sums) {
  HWY_DYNAMIC_DISPATCH(attention_rows_piece)(shape, dropout, job, piece, log_sums);
}

}  // namespace limpid::kernels
#endif
