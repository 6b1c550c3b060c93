// What SIMD kernels need to use small_gemm of their own instruction set without a second dispatch, and the packing of
// its right-hand side.
#if defined(LIMPID_KERNELS_SMALL_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_KERNELS_SMALL_GEMM_INL_H_
#undef LIMPID_KERNELS_SMALL_GEMM_INL_H_
#else
#define LIMPID_KERNELS_SMALL_GEMM_INL_H_
#endif

#include <algorithm>

#include "kernels/simd-inl.h"
#include "kernels/small_gemm.h"

HWY_BEFORE_NAMESPACE();
namespace limpid {
namespace HWY_NAMESPACE {

using kernels::as_is;
using kernels::transposed;

inline constexpr int64_t kLanes = hn::MaxLanes(Reals());
inline constexpr int64_t kBlockLanes = std::min<int64_t>(kLanes, 16 / sizeof(real));  // in a block of 128 bits

constexpr int64_t whole_vectors(int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

// kernels::small_gemm of this instruction set.
void multiply_small(const kernels::SmallGemm& gemm);

// How many rows of C are computed at a time when it has n columns: the best step where rows end at different k.
int64_t multiply_small_rows(int64_t n);

// Block b of the vector is the kBlockLanes numbers at rows[b·kBlockLanes] + p.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const real* const* rows, int64_t p) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > kBlockLanes) {
    const hn::Half<D> half;
    const real* const* upper = rows + hn::MaxLanes(half);
    return hn::Combine(d, load_blocks(half, upper, p), load_blocks(half, rows, p));
  }
#endif
  return hn::LoadU(d, rows[0] + p);
}

// Transposes kBlockLanes × kBlockLanes numbers in each block of 128 bits: v[r] is row r, then column r.
template <class D>
HWY_INLINE void transpose_blocks(D d, hn::Vec<D> (&v)[kBlockLanes]) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kBlockLanes == 2) {
    const hn::Vec<D> lower = hn::InterleaveLower(d, v[0], v[1]);
    v[1] = hn::InterleaveUpper(d, v[0], v[1]);
    v[0] = lower;
  } else {
    const hn::RepartitionToWide<D> pairs;
    const auto lower01 = hn::BitCast(pairs, hn::InterleaveLower(d, v[0], v[1]));
    const auto upper01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v[0], v[1]));
    const auto lower23 = hn::BitCast(pairs, hn::InterleaveLower(d, v[2], v[3]));
    const auto upper23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v[2], v[3]));
    v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, lower01, lower23));
    v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, lower01, lower23));
    v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, upper01, upper23));
    v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, upper01, upper23));
  }
#else
  (void)d, (void)v;
#endif
}

// Writes to y the transpose of x, which has rows; returns it as a matrix (x.cols, whole_vectors(x.rows)). What is
// beyond x.rows repeats the last row of x, so that it is as harmless as that row.
inline ConstMatrix pack_transposed(ConstMatrix x, real* y) {
  const Reals d;
  const int64_t stride = whole_vectors(x.rows);
  for (int64_t i = 0; i < x.rows; i += kLanes) {
    const real* rows[kLanes];
    for (int64_t r = 0; r < kLanes; ++r) rows[r] = x.row(std::min(i + r, x.rows - 1));
    int64_t p = 0;
    for (; p + kBlockLanes <= x.cols; p += kBlockLanes) {
      RealVec v[kBlockLanes];
      for (int64_t r = 0; r < kBlockLanes; ++r) v[r] = load_blocks(d, rows + r, p);
      transpose_blocks(d, v);
      for (int64_t r = 0; r < kBlockLanes; ++r) hn::StoreU(v[r], d, y + (p + r) * stride + i);
    }
    for (; p < x.cols; ++p)
      for (int64_t r = 0; r < kLanes; ++r) y[p * stride + i + r] = rows[r][p];
  }
  return {y, x.cols, stride};
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid
HWY_AFTER_NAMESPACE();

#endif  // the guard that is toggled
