// Weights by outputs: every y[i, j] is the sum of the lanes of one vector, to which the products x[i, p]·w[j, p] were
// added in the order of p, a vector at a time. Weights by inputs: it is one chain of products in the order of p.
// Tiles of several rows and outputs share what they load; they change no sum.

#include "kernels/row_gemm.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_gemm.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

using kernels::StoredMatrix;
using kernels::Transpose;

constexpr int64_t kLanes = hn::MaxLanes(Reals());
constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64;  // 32, otherwise 16
constexpr int64_t kTileRows = kManyRegisters ? 4 : 3;
// Few rows take more outputs at a time, so that enough sums are under way to hide how long an addition takes.
constexpr int64_t tile_outputs(int64_t rows) { return rows <= (kManyRegisters ? 2 : 1) ? 8 : 4; }

// A part of a matrix that is stored as numbers of type T.
template <class T>
struct Part {
  const T* data;
  int64_t stride;
  const T* row(int64_t i) const { return data + i * stride; }
};

struct Real {
  using Stored = real;
  static HWY_INLINE RealVec whole(const real* p) { return hn::LoadU(Reals(), p); }
  static HWY_INLINE RealVec first(const real* p, int64_t count) { return load_partial(Reals(), p, count); }
};

template <NumberType type>
struct Half {
  using Stored = uint16_t;
#ifdef LIMPID_F64
  static HWY_INLINE RealVec first(const uint16_t* p, int64_t count) {
    HWY_ALIGN real wide[HWY_MAX_BYTES / sizeof(real)] = {};
    for (int64_t i = 0; i < count; ++i)
      wide[i] = static_cast<real>(type == NumberType::f16 ? from_f16(p[i]) : from_bf16(p[i]));
    return hn::Load(Reals(), wide);
  }
  static HWY_INLINE RealVec whole(const uint16_t* p) { return first(p, kLanes); }
#else
  using Bits = hn::Rebind<uint16_t, Reals>;
  static HWY_INLINE RealVec widened(hn::Vec<Bits> bits) {
    const Reals d;
    if constexpr (type == NumberType::f16)
      return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, Reals>(), bits));
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<Reals>(), bits)));
  }
  static HWY_INLINE RealVec whole(const uint16_t* p) { return widened(hn::LoadU(Bits(), p)); }
  static HWY_INLINE RealVec first(const uint16_t* p, int64_t count) { return widened(load_partial(Bits(), p, count)); }
#endif
};

#if HWY_TARGET != HWY_SCALAR && !defined(LIMPID_F64)
using Four = hn::Full128<real>;

// Halves are added until a block of four numbers is left.
template <class D>
HWY_INLINE hn::Vec<Four> sum_of_blocks(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// The sums of the lanes of four vectors.
HWY_INLINE hn::Vec<Four> sums_of_four(RealVec a, RealVec b, RealVec c, RealVec e) {
  const Reals d;
  const hn::RepartitionToWide<Reals> pairs;
  const auto ab = hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
  const auto ce = hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e)));
  const auto lower = hn::BitCast(d, hn::InterleaveLower(pairs, ab, ce));
  const auto upper = hn::BitCast(d, hn::InterleaveUpper(pairs, ab, ce));
  return sum_of_blocks(d, hn::Add(lower, upper));
}
#endif

template <int64_t kOutputs>
HWY_INLINE void store_sums(const RealVec (&sums)[kOutputs], real* y) {
#if HWY_TARGET != HWY_SCALAR && !defined(LIMPID_F64)
  if constexpr (kOutputs % 4 == 0) {
    for (int64_t j = 0; j < kOutputs; j += 4)
      hn::StoreU(sums_of_four(sums[j], sums[j + 1], sums[j + 2], sums[j + 3]), Four(), y + j);
    return;
  }
#endif
  for (int64_t j = 0; j < kOutputs; ++j) y[j] = hn::GetLane(hn::SumOfLanes(Reals(), sums[j]));
}

// Some rows of x by some rows of w.
template <class Number, int64_t kRows, int64_t kOutputs>
HWY_INLINE void dot_tile(ConstMatrix x, Part<typename Number::Stored> w, Matrix y) {
  RealVec sums[kRows][kOutputs];
  for (auto& row : sums)
    for (RealVec& sum : row) sum = hn::Zero(Reals());
  const int64_t whole = x.cols / kLanes * kLanes, rest = x.cols - whole;
  for (int64_t p = 0; p < whole; p += kLanes) {
    RealVec rows[kRows];
    for (int64_t i = 0; i < kRows; ++i) rows[i] = Real::whole(x.row(i) + p);
    for (int64_t j = 0; j < kOutputs; ++j) {
      const RealVec weights = Number::whole(w.row(j) + p);
      for (int64_t i = 0; i < kRows; ++i) sums[i][j] = hn::MulAdd(rows[i], weights, sums[i][j]);
    }
  }
  if (rest > 0) {
    RealVec rows[kRows];
    for (int64_t i = 0; i < kRows; ++i) rows[i] = Real::first(x.row(i) + whole, rest);
    for (int64_t j = 0; j < kOutputs; ++j) {
      const RealVec weights = Number::first(w.row(j) + whole, rest);
      for (int64_t i = 0; i < kRows; ++i) sums[i][j] = hn::MulAdd(rows[i], weights, sums[i][j]);
    }
  }
  for (int64_t i = 0; i < kRows; ++i) store_sums(sums[i], y.row(i));
}

template <class Number, int64_t kRows>
HWY_INLINE void dot_rows(ConstMatrix x, Part<typename Number::Stored> w, Matrix y) {
  constexpr int64_t kOutputs = tile_outputs(kRows);
  int64_t j = 0;
  for (; j + kOutputs <= y.cols; j += kOutputs)
    dot_tile<Number, kRows, kOutputs>(x, {w.row(j), w.stride}, y.cols_from(j, kOutputs));
  // The same sums whatever the number of rows: what is left of a tile of eight may be a tile of four.
  for (; j + 4 <= y.cols; j += 4) dot_tile<Number, kRows, 4>(x, {w.row(j), w.stride}, y.cols_from(j, 4));
  for (; j < y.cols; ++j) dot_tile<Number, kRows, 1>(x, {w.row(j), w.stride}, y.cols_from(j, 1));
}

// Some rows of x by some columns of w: whole vectors, or the first `count` numbers of one.
template <class Number, int64_t kRows, int64_t kVectors>
HWY_INLINE void chain_tile(ConstMatrix x, Part<typename Number::Stored> w, Matrix y, int64_t count) {
  const Reals d;
  RealVec sums[kRows][kVectors];
  for (auto& row : sums)
    for (RealVec& sum : row) sum = hn::Zero(d);
  for (int64_t p = 0; p < x.cols; ++p) {
    RealVec weights[kVectors];
    for (int64_t v = 0; v < kVectors; ++v)
      weights[v] = count == kLanes ? Number::whole(w.row(p) + v * kLanes) : Number::first(w.row(p), count);
    for (int64_t i = 0; i < kRows; ++i) {
      const RealVec number = hn::Set(d, x(i, p));
      for (int64_t v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(number, weights[v], sums[i][v]);
    }
  }
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t v = 0; v < kVectors; ++v) store_partial(sums[i][v], d, y.row(i) + v * kLanes, count);
}

template <class Number, int64_t kRows>
HWY_INLINE void chain_rows(ConstMatrix x, Part<typename Number::Stored> w, Matrix y) {
  constexpr int64_t kVectors = tile_outputs(kRows);
  int64_t j = 0;
  for (; j + kVectors * kLanes <= y.cols; j += kVectors * kLanes)
    chain_tile<Number, kRows, kVectors>(x, {w.data + j, w.stride}, y.cols_from(j, kVectors * kLanes), kLanes);
  for (int64_t count = 0; j < y.cols; j += count) {
    count = std::min(kLanes, y.cols - j);
    chain_tile<Number, kRows, 1>(x, {w.data + j, w.stride}, y.cols_from(j, count), count);
  }
}

template <class Number, int64_t kRows>
void multiply_rows(ConstMatrix x, Transpose transpose, Part<typename Number::Stored> w, Matrix y) {
  int64_t i = 0;
  for (; i + kRows <= x.rows; i += kRows) {
    if (transpose == Transpose::yes)
      dot_rows<Number, kRows>(x.rows_from(i, kRows), w, y.rows_from(i, kRows));
    else
      chain_rows<Number, kRows>(x.rows_from(i, kRows), w, y.rows_from(i, kRows));
  }
  if constexpr (kRows > 1)
    if (i < x.rows)
      multiply_rows<Number, kRows - 1>(x.rows_from(i, x.rows - i), transpose, w, y.rows_from(i, x.rows - i));
}

template <class Number>
void multiply_part(ConstMatrix x, Transpose transpose, const StoredMatrix& w, int64_t first, Matrix y) {
  const auto* data = static_cast<const typename Number::Stored*>(w.data);
  multiply_rows<Number, kTileRows>(x, transpose, {data + first * (transpose == Transpose::yes ? w.cols : 1), w.cols},
                                   y);
}

}  // namespace

// y: the outputs from `first` on.
void multiply_outputs(ConstMatrix x, Transpose transpose, const StoredMatrix& w, int64_t first, Matrix y) {
  if (w.type == NumberType::f16) return multiply_part<Half<NumberType::f16>>(x, transpose, w, first, y);
  if (w.type == NumberType::bf16) return multiply_part<Half<NumberType::bf16>>(x, transpose, w, first, y);
  multiply_part<Real>(x, transpose, w, first, y);
}

}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/rows.h"

namespace limpid::kernels {
namespace {

HWY_EXPORT(multiply_outputs);

// Rows that a thread takes at a time: their tiles of x stay in the first cache while weights come from the second.
constexpr int64_t kRowBlock = 192;

// Outputs that a thread takes at a time: weights for half of the second cache, and some for every thread unless the
// whole product is smaller than what it takes to wake one. Tiles are whole, and threads do not write to the same line.
int64_t output_block(int64_t rows, int64_t outputs, int64_t inputs) {
  constexpr int64_t kStep = 64, kNumbers = 1 << 16, kParts = 8, kWorthAThread = 1 << 16;
  if (rows * outputs * inputs < kWorthAThread) return std::max<int64_t>(1, outputs);
  const int64_t most = kNumbers / std::max<int64_t>(1, inputs) / kStep * kStep;
  const int64_t share = (outputs / kParts + kStep - 1) / kStep * kStep;
  return std::max(kStep, std::min(most, share));
}

}  // namespace

void row_gemm(ConstMatrix x, Transpose transpose_w, const StoredMatrix& w, Matrix y, const real* bias) {
  const bool by_output = transpose_w == Transpose::yes;
  check(x.cols == (by_output ? w.cols : w.rows) && y.rows == x.rows && y.cols == (by_output ? w.rows : w.cols),
        "[row gemm] ({}×{})·({}×{}) does not give {}×{}", x.rows, x.cols, by_output ? w.cols : w.rows,
        by_output ? w.rows : w.cols, y.rows, y.cols);
  check(w.type == kRealType || widens(w.type), "[row gemm] no product with numbers of type {}", name_of(w.type));
  const int64_t outputs = output_block(y.rows, y.cols, x.cols);
  const int64_t output_blocks = (y.cols + outputs - 1) / outputs, row_blocks = (y.rows + kRowBlock - 1) / kRowBlock;
  parallel_for(output_blocks * row_blocks, [&](int64_t i) {
    const int64_t row = i / output_blocks * kRowBlock, rows = std::min(kRowBlock, y.rows - row);
    const int64_t first = i % output_blocks * outputs, count = std::min(outputs, y.cols - first);
    const Matrix part = y.rows_from(row, rows).cols_from(first, count);
    HWY_DYNAMIC_DISPATCH(multiply_outputs)(x.rows_from(row, rows), transpose_w, w, first, part);
    if (bias) add_row(bias + first, part);
  });
}

}  // namespace limpid::kernels
#endif
