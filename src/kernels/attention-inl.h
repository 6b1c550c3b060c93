// What forward and backward of the fast attention share: a block of queries against the keys they see.
//
// The block's pairs lie transposed, a row for each key and a lane for each query. So the softmax runs down the rows
// with one query in each lane and never reduces across lanes, keys and values are read where they lie, and only the
// block's queries (and dz) are packed.
#if defined(LIMPID_KERNELS_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_KERNELS_ATTENTION_INL_H_
#undef LIMPID_KERNELS_ATTENTION_INL_H_
#else
#define LIMPID_KERNELS_ATTENTION_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include "kernels/attention_work.h"
#include "kernels/small_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid {
namespace HWY_NAMESPACE {

using kernels::AttentionGradients;
using kernels::AttentionJob;
using kernels::AttentionPiece;
using kernels::head_of;
using kernels::keys_seen;
using kernels::Scratch;

// A block of queries and the keys that any of them sees, counted from the first of these: query begin + i (i < count)
// sees the keys from unseen(i) to before seen(i).
struct QueryBlock {
  int64_t begin, count;
  int64_t low;     // the first key of the block among those of the sequence
  int64_t keys;    // of the block
  int64_t offset;  // query begin + i sees no key behind begin + i + offset
  int64_t window;  // and so many keys at most; 0: all
  int64_t place;   // of query begin + i among the keys: begin + i + place
  int64_t stride;  // numbers from one key's row of pairs to the next: count in whole vectors

  QueryBlock(const AttentionShape& shape, int64_t n, int64_t m, int64_t begin_, int64_t count_)
      : begin(begin_),
        count(count_),
        low(keys_seen(shape, n, m, begin).begin),
        keys(keys_seen(shape, n, m, begin + count - 1).end - low),
        offset((shape.causal       ? m - n
                : shape.window > 0 ? m - n + shape.window - 1
                                   : m) -
               low),
        window(shape.window == 0 ? 0
               : shape.causal    ? shape.window
                                 : 2 * shape.window - 1),
        place(m - n - low),
        stride(whole_vectors(count)) {}

  int64_t seen(int64_t i) const { return std::clamp<int64_t>(begin + i + offset + 1, 0, keys); }  // keys up to the last
  int64_t unseen(int64_t i) const {  // keys before the first
    return window == 0 ? 0 : std::clamp<int64_t>(begin + i + offset + 1 - window, 0, keys);
  }
  int64_t first(int64_t key) const { return std::max<int64_t>(0, key - offset - begin); }  // query that sees the key
  int64_t last(int64_t key) const {                                                        // query that sees it
    return window == 0 ? stride - 1 : std::min(stride - 1, key - offset - begin + window - 1);
  }
  ConstMatrix of(ConstMatrix keys_of_all) const { return keys_of_all.rows_from(low, keys); }
  Matrix of(Matrix keys_of_all) const { return keys_of_all.rows_from(low, keys); }
};

// So many queries that their pairs with m keys stay in the second-level cache.
inline int64_t block_queries(int64_t m) { return m <= 1024 ? 64 : m <= 4096 ? 32 : 16; }

// pairs[j, i] = alpha·Σ_p x[j, p]·y_t[p, i], but nothing where a whole vector of queries does not see the key.
inline void pair_products(const QueryBlock& block, ConstMatrix x, ConstMatrix y_t, const real& alpha, Matrix pairs) {
  const auto rows = [&](int64_t key, int64_t count, int64_t query) HWY_ATTR {
    const int64_t queries = block.stride - query;
    multiply_small({.a = as_is(x.rows_from(key, count)),
                    .b = y_t.cols_from(query, queries),
                    .c = pairs.rows_from(key, count).cols_from(query, queries),
                    .alpha = &alpha});
  };
  const int64_t all = block.seen(0);
  rows(0, all, 0);
  for (int64_t key = all; key < block.keys; key += kLanes) {
    rows(key, std::min(kLanes, block.keys - key), block.first(key) / kLanes * kLanes);
  }
}

// y[i] (+)= alpha[i·alpha_step]·Σ_j pairs[j, i]·x[j] over the keys j that query i sees.
inline void gather_keys(const QueryBlock& block, ConstMatrix pairs, ConstMatrix x, const real* alpha,
                        int64_t alpha_step, Matrix y, bool accumulate) {
  const int64_t step = multiply_small_rows(y.cols);
  for (int64_t i = 0; i < block.count; i += step) {
    const int64_t count = std::min(step, block.count - i);
    multiply_small({.a = transposed(pairs.cols_from(i, count)),
                    .b = x.rows_from(0, block.seen(i + count - 1)),
                    .c = y.rows_from(i, count),
                    .alpha = alpha + i * alpha_step,
                    .alpha_step = alpha_step,
                    .accumulate = accumulate});
  }
}

// y[j] += alpha·Σ_i pairs[j, i]·x[i] over the queries i that see key j.
inline void gather_queries(const QueryBlock& block, ConstMatrix pairs, ConstMatrix x, const real& alpha, Matrix y) {
  const auto rows = [&](int64_t key, int64_t count, int64_t query) HWY_ATTR {
    const int64_t queries = block.count - query;
    multiply_small({.a = as_is(pairs.rows_from(key, count).cols_from(query, queries)),
                    .b = x.rows_from(query, queries),
                    .c = y.rows_from(key, count),
                    .alpha = &alpha,
                    .accumulate = true});
  };
  const int64_t all = block.seen(0), step = multiply_small_rows(y.cols);
  rows(0, all, 0);
  for (int64_t key = all; key < block.keys; key += step) {
    rows(key, std::min(step, block.keys - key), block.first(key));
  }
}

// x with the lowest number (for maxima) in the lanes that are not part of the row.
HWY_INLINE RealVec lowest_rest(WholeVector, RealVec x) { return x; }
HWY_INLINE RealVec lowest_rest(PartVector part, RealVec x) {
  return hn::IfThenElse(hn::FirstN(Reals(), part.count), x, hn::Set(Reals(), hwy::LowestValue<real>()));
}

HWY_INLINE real max_along(const real* x, int64_t n) {
  RealVec max = hn::Set(Reals(), hwy::LowestValue<real>());
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR { max = hn::Max(max, lowest_rest(part, part.load(x + j))); });
  return max_lanes(Reals(), max);
}

// y = drop(x), the pairs of one query with n keys of which the first has this index. y may be x.
HWY_INLINE void drop_along(const DropoutMask& mask, uint64_t index, const real* x, int64_t n, real* y) {
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
    part.store(mask.apply(Reals(), index + static_cast<uint64_t>(j), part.load(x + j)), y + j);
  });
}

// Which lanes of a vector of queries see a key: all, those from `begin` on, or those of a range.
struct AllSee {
  HWY_INLINE RealVec else_zero(RealVec x) const { return x; }
  HWY_INLINE RealVec else_lowest(RealVec x) const { return x; }
};
struct LaterSee {
  size_t begin;
  HWY_INLINE RealVec else_zero(RealVec x) const { return hn::IfThenZeroElse(hn::FirstN(Reals(), begin), x); }
  HWY_INLINE RealVec else_lowest(RealVec x) const {
    return hn::IfThenElse(hn::FirstN(Reals(), begin), hn::Set(Reals(), hwy::LowestValue<real>()), x);
  }
};

struct RangeSees {
  size_t begin, end;
  HWY_INLINE hn::Mask<Reals> mask() const { return hn::AndNot(hn::FirstN(Reals(), begin), hn::FirstN(Reals(), end)); }
  HWY_INLINE RealVec else_zero(RealVec x) const { return hn::IfThenElseZero(mask(), x); }
  HWY_INLINE RealVec else_lowest(RealVec x) const {
    return hn::IfThenElse(mask(), x, hn::Set(Reals(), hwy::LowestValue<real>()));
  }
};

// Calls body(j, see) for each key j that one of the queries i … i + kLanes - 1 of the block sees.
template <class Body>
HWY_INLINE void for_each_key(const QueryBlock& block, int64_t i, const Body& body) {
  const int64_t all = block.seen(i), any = block.seen(i + kLanes - 1);
  if (block.window == 0) {
    for (int64_t j = 0; j < all; ++j) body(j, AllSee());
    for (int64_t j = all; j < any; ++j) body(j, LaterSee{static_cast<size_t>(block.first(j) - i)});
    return;
  }
  const auto range = [&](int64_t begin, int64_t end) HWY_ATTR {
    for (int64_t j = begin; j < end; ++j)
      body(j, RangeSees{static_cast<size_t>(std::max<int64_t>(0, block.first(j) - i)),
                        static_cast<size_t>(std::min(kLanes, block.last(j) - i + 1))});
  };
  const int64_t from = block.unseen(i + kLanes - 1);  // the first key that all may see
  range(block.unseen(i), std::min(from, any));
  for (int64_t j = from; j < all; ++j) body(j, AllSee());
  range(std::max(from, all), any);
}

// Zero for the keys of the block that none of the queries i … i + kLanes - 1 sees.
HWY_INLINE void zero_unseen(const QueryBlock& block, int64_t i, Matrix pairs) {
  const auto zero = [&](int64_t begin, int64_t end) HWY_ATTR {
    for (int64_t j = begin; j < end; ++j) hn::StoreU(hn::Zero(Reals()), Reals(), pairs.row(j) + i);
  };
  zero(0, block.unseen(i));
  zero(block.seen(i + kLanes - 1), block.keys);
}

// What comes between products and the softmax: cap(x) + bias, a lane for each query i, i + 1, … of the block and key j.
// The cap's own derivative, 1 - tanh², goes to `slope`, where that is wanted.
class ScoreRule {
 public:
  ScoreRule(const AttentionShape& shape, const AttentionJob& head, const QueryBlock& block)
      : cap_(shape.softcap), bias_(head.bias.data), zero_(head.bias_zero + block.begin + block.place) {}

  bool none() const { return cap_ == 0 && !bias_; }

  HWY_INLINE RealVec operator()(RealVec x, int64_t i, int64_t lanes, int64_t j, real* slope = nullptr) const {
    const Reals d;
    if (cap_ > 0) {
      const RealVec t = hn::Tanh(d, hn::Mul(x, hn::Set(d, 1 / cap_)));
      x = hn::Mul(t, hn::Set(d, cap_));
      if (slope) hn::StoreU(hn::NegMulAdd(t, t, hn::Set(d, real(1))), d, slope);
    }
    if (bias_) x = hn::Add(x, load_partial(d, bias_ + zero_ + i - j, static_cast<size_t>(lanes)));
    return x;
  }
  int64_t column(int64_t i, int64_t j) const { return zero_ + i - j; }

 private:
  real cap_;
  const real* bias_;
  int64_t zero_;  // column of the block's first query with its first key
};

// Dropout of the pairs of one head, a query in each lane. Index of (query i, key j): start + i·m + j.
class PairDropout {
 public:
  PairDropout(const Dropout& dropout, uint64_t start, int64_t m)
      : mask_(dropout, start), start_(start), m_(static_cast<uint64_t>(m)) {}

  static constexpr bool kDrops = true;

  // Whether the pairs of key j with queries i, i + 1, … are kept.
  template <class D>
  HWY_INLINE hn::Mask<D> keep(D d, int64_t i, int64_t j) const {
    return mask_.keep(d, start_ + static_cast<uint64_t>(i) * m_ + static_cast<uint64_t>(j), m_);
  }

 private:
  DropoutMask mask_;
  uint64_t start_, m_;
};

struct NoDropout {
  static constexpr bool kDrops = false;
};

}  // namespace HWY_NAMESPACE
}  // namespace limpid
HWY_AFTER_NAMESPACE();

#endif  // the guard that is toggled
