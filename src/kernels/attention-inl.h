// What forward and backward of the fast attention share: a block of queries against the keys they see.
//
// The block's pairs lie transposed, a row for each key and a lane for each query. So the soft-max runs down the rows
// with one query in each lane and never reduces across lanes, keys and values are read where they lie, and only the
// block's queries (and dz) are packed.
#if defined(LIMPID_KERNELS_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_KERNELS_ATTENTION_INL_H_
#undef LIMPID_KERNELS_ATTENTION_INL_H_
#else
#define LIMPID_KERNELS_ATTENTION_INL_H_
#endif

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

// Query begin + i (i < count) sees the keys j ≤ begin + i + offset.
struct QueryBlock {
  int64_t begin, count;
  int64_t offset;
  int64_t keys;    // that the last query sees
  int64_t stride;  // numbers from one key's row of pairs to the next: count in whole vectors

  QueryBlock(const AttentionShape& shape, int64_t n, int64_t m, int64_t begin_, int64_t count_)
      : begin(begin_),
        count(count_),
        offset(shape.causal ? m - n : m),
        keys(std::clamp<int64_t>(begin + count + offset, 0, m)),
        stride(whole_vectors(count)) {}

  int64_t seen(int64_t i) const { return std::clamp<int64_t>(begin + i + offset + 1, 0, keys); }  // number of keys
  int64_t first(int64_t key) const { return std::max<int64_t>(0, key - offset - begin); }  // query that sees the key
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

// Which lanes of a vector of queries see a key: all, or those from `begin` on.
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

// Calls body(j, see) for each key j that queries i … i + kLanes - 1 of the block see.
template <class Body>
HWY_INLINE void for_each_key(const QueryBlock& block, int64_t i, const Body& body) {
  const int64_t all = block.seen(i), any = block.seen(i + kLanes - 1);
  for (int64_t j = 0; j < all; ++j) body(j, AllSee());
  for (int64_t j = all; j < any; ++j) body(j, LaterSee{static_cast<size_t>(block.first(j) - i)});
}

// Zero for the keys of the block that queries i … i + kLanes - 1 do not see.
HWY_INLINE void zero_unseen(const QueryBlock& block, int64_t i, Matrix pairs) {
  for (int64_t j = block.seen(i + kLanes - 1); j < block.keys; ++j)
    hn::StoreU(hn::Zero(Reals()), Reals(), pairs.row(j) + i);
}

// Dropout of the pairs of one head, a query in each lane. Index of (query i, key j): start + i·m + j.
class PairDropout {
 public:
  PairDropout(const Dropout& dropout, uint64_t start, int64_t m)
      : key_(dropout.key),
        words_(dropout_words(key_, start)),
        start_(start),
        m_(static_cast<uint64_t>(m)),
        limit_(dropout_limit(dropout.rate)) {}

  static constexpr bool kDrops = true;

  // Whether the pairs of key j with queries i, i + 1, … are kept.
  template <class D>
  HWY_INLINE hn::Mask<D> keep(D d, int64_t i, int64_t j) const {
    const hn::Rebind<int32_t, D> di;
    const uint64_t index = start_ + static_cast<uint64_t>(i) * m_ + static_cast<uint64_t>(j);
    const auto kept = hn::Gt(hash(di, index), hn::Set(di, limit_));
    if constexpr (sizeof(hn::TFromD<D>) == 4) {
      return hn::RebindMask(d, kept);
    } else {
      const hn::Rebind<int64_t, D> wide;
      return hn::RebindMask(d, hn::MaskFromVec(hn::PromoteTo(wide, hn::VecFromMask(di, kept))));
    }
  }

 private:
  // dropout_hash of index, index + m, index + 2m, …
  template <class DI>
  HWY_INLINE hn::Vec<DI> hash(DI di, uint64_t index) const {
    const uint64_t last = index + (hn::Lanes(di) - 1) * m_;
    if (HWY_LIKELY((last >> 32) == (start_ >> 32))) return hash(di, index, words_);
    const auto upper = hash(di, index, dropout_words(key_, last));
    if ((index >> 32) == (last >> 32)) return upper;
    const uint64_t below = ((last & ~uint64_t{0xffffffff}) - index + m_ - 1) / m_;  // lanes below the multiple of 2³²
    return hn::IfThenElse(hn::FirstN(di, below), hash(di, index, dropout_words(key_, index)), upper);
  }
  template <class DI>
  HWY_INLINE hn::Vec<DI> hash(DI di, uint64_t index, uint64_t words) const {
    const hn::RebindToUnsigned<DI> du;
    auto x = hn::Mul(hn::Iota(du, 0), hn::Set(du, static_cast<uint32_t>(m_)));
    x = hn::Xor(hn::Add(x, hn::Set(du, static_cast<uint32_t>(index))), hn::Set(du, static_cast<uint32_t>(words)));
    x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(du, kDropoutFactor1));
    x = hn::Xor(x, hn::Set(du, static_cast<uint32_t>(words >> 32)));
    x = hn::Mul(hn::Xor(x, hn::ShiftRight<15>(x)), hn::Set(du, kDropoutFactor2));
    return hn::BitCast(di, x);
  }

  uint64_t key_;
  uint64_t words_;  // of the indices that share their upper half with start
  uint64_t start_, m_;
  int32_t limit_;
};

struct NoDropout {
  static constexpr bool kDrops = false;
};

}  // namespace HWY_NAMESPACE
}  // namespace limpid
HWY_AFTER_NAMESPACE();

#endif  // the guard that is toggled
