// Weights by outputs: every y[i, j] is the sum of the lanes of one vector, to which the products x[i, p]·w[j, p] were
// added in the order of p, a vector at a time. Weights by inputs: it is one chain of products in the order of p.
// Tiles of several rows and outputs share what they load; they change no sum. All rows of x, which stay in the cache,
// meet some outputs before the next ones come, and meanwhile the weights of those are asked for: memory delivers while
// the processor computes.

#include "kernels/row_gemm.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_gemm.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "kernels/simd-inl.h"
#include "kernels/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

using kernels::kPanelOutputs;
using kernels::PackedMatrix;
using kernels::StoredMatrix;
using kernels::Transpose;

constexpr int64_t kLanes = hn::MaxLanes(Reals());
constexpr int64_t kDotRows = kManyRegisters ? 4 : 3, kChainRows = 6;
// Few rows take more outputs at a time, so that enough sums are under way to hide how long an addition takes.
constexpr int64_t kManyOutputs = 8, kOutputs = 4;
constexpr int64_t kManyVectors = 8, kVectors = kManyRegisters ? 4 : 2;
constexpr int64_t kFewRows = kManyRegisters ? 2 : 1;
constexpr bool few(int64_t rows) { return rows <= kFewRows; }

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

template <DType type>
struct Half {
  using Stored = uint16_t;
#ifdef LIMPID_F64
  static HWY_INLINE RealVec first(const uint16_t* p, int64_t count) {
    HWY_ALIGN real wide[HWY_MAX_BYTES / sizeof(real)] = {};
    for (int64_t i = 0; i < count; ++i)
      wide[i] = static_cast<real>(type == DType::f16 ? from_f16(p[i]) : from_bf16(p[i]));
    return hn::Load(Reals(), wide);
  }
  static HWY_INLINE RealVec whole(const uint16_t* p) { return first(p, kLanes); }
#else
  using Bits = hn::Rebind<uint16_t, Reals>;
  static HWY_INLINE RealVec widened(hn::Vec<Bits> bits) {
    const Reals d;
    if constexpr (type == DType::f16) return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, Reals>(), bits));
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

// Lanes are added in the same order in a tile of four outputs and in one of a single output: the bits of an output do
// not depend on which weights lie beside its own.
template <int64_t kOutputs>
HWY_INLINE void store_sums(const RealVec (&sums)[kOutputs], real* y) {
#if HWY_TARGET != HWY_SCALAR && !defined(LIMPID_F64)
  if constexpr (kOutputs % 4 == 0) {
    for (int64_t j = 0; j < kOutputs; j += 4)
      hn::StoreU(sums_of_four(sums[j], sums[j + 1], sums[j + 2], sums[j + 3]), Four(), y + j);
  } else {
    for (int64_t j = 0; j < kOutputs; ++j) y[j] = hn::GetLane(sums_of_four(sums[j], sums[j], sums[j], sums[j]));
  }
#else
  for (int64_t j = 0; j < kOutputs; ++j) y[j] = hn::GetLane(hn::SumOfLanes(Reals(), sums[j]));
#endif
}

// The share of one tile of rows in asking for what comes next: the things from `begin` on to `end` of `count`.
struct Share {
  int64_t begin, end;
  Share(int64_t count, int64_t tile, int64_t tiles) {
    const int64_t each = (count + tiles - 1) / tiles;
    begin = std::min(count, tile * each);
    end = std::min(count, begin + each);
  }
};

// Some rows of x by some rows of w. `ask(p)` asks for weights that come next, while input p is worked on.
template <class Number, int64_t kRows, int64_t kOutputs, class Ask>
HWY_INLINE void dot_tile(ConstMatrix x, Part<typename Number::Stored> w, Matrix y, const Ask& ask) {
  using T = typename Number::Stored;
  RealVec sums[kRows][kOutputs];
  unroll<kRows>([&](auto i) HWY_ATTR { unroll<kOutputs>([&](auto j) HWY_ATTR { sums[i][j] = hn::Zero(Reals()); }); });
  const auto add = [&](const auto& load_x, const auto& load_w) HWY_ATTR {
    RealVec rows[kRows];
    unroll<kRows>([&](auto i) HWY_ATTR { rows[i] = load_x(x.row(i)); });
    unroll<kOutputs>([&](auto j) HWY_ATTR {
      const RealVec weights = load_w(w.row(j));
      unroll<kRows>([&](auto i) HWY_ATTR { sums[i][j] = hn::MulAdd(rows[i], weights, sums[i][j]); });
    });
  };
  const int64_t whole = x.cols / kLanes * kLanes, rest = x.cols - whole;
  for (int64_t p = 0; p < whole; p += kLanes) {
    ask(p);
    add([&](const real* row) HWY_ATTR { return Real::whole(row + p); },
        [&](const T* row) HWY_ATTR { return Number::whole(row + p); });
  }
  if (rest > 0)
    add([&](const real* row) HWY_ATTR { return Real::first(row + whole, rest); },
        [&](const T* row) HWY_ATTR { return Number::first(row + whole, rest); });
  unroll<kRows>([&](auto i) HWY_ATTR { store_sums(sums[i], y.row(i)); });
}

// Some rows of x by some columns of w: whole vectors, or the first `count` numbers of one.
template <class Number, int64_t kRows, int64_t kVectors, bool kWhole, class Ask>
HWY_INLINE void chain_tile(ConstMatrix x, Part<typename Number::Stored> w, Matrix y, int64_t count, const Ask& ask) {
  const Reals d;
  RealVec sums[kRows][kVectors];
  const real* rows[kRows];
  unroll<kRows>([&](auto i) HWY_ATTR {
    rows[i] = x.row(i);
    unroll<kVectors>([&](auto v) HWY_ATTR { sums[i][v] = hn::Zero(d); });
  });
  const auto* column = w.data;
  for (int64_t p = 0; p < x.cols; ++p, column += w.stride) {
    ask(p);
    RealVec weights[kVectors];
    unroll<kVectors>([&](auto v) HWY_ATTR {
      if constexpr (kWhole)
        weights[v] = Number::whole(column + v * kLanes);
      else
        weights[v] = Number::first(column, count);
    });
    unroll<kRows>([&](auto i) HWY_ATTR {
      const RealVec number = hn::Set(d, rows[i][p]);
      unroll<kVectors>([&](auto v) HWY_ATTR { sums[i][v] = hn::MulAdd(number, weights[v], sums[i][v]); });
    });
  }
  unroll<kRows>([&](auto i) HWY_ATTR {
    unroll<kVectors>([&](auto v) HWY_ATTR {
      if constexpr (kWhole)
        hn::StoreU(sums[i][v], d, y.row(i) + v * kLanes);
      else
        store_partial(sums[i][v], d, y.row(i), static_cast<size_t>(count));
    });
  });
}

// One row by some rows of w, one after another: then memory sees one stream per thread, which it serves fastest.
template <class Number, int64_t kOutputs>
HWY_INLINE void dot_row(ConstMatrix x, Part<typename Number::Stored> w, Matrix y) {
  RealVec sums[kOutputs];
  const real* const row = x.row(0);
  const int64_t whole = x.cols / kLanes * kLanes, rest = x.cols - whole;
  unroll<kOutputs>([&](auto j) HWY_ATTR {
    const auto* const weights = w.row(j);
    RealVec sum = hn::Zero(Reals());
    for (int64_t p = 0; p < whole; p += kLanes) sum = hn::MulAdd(Real::whole(row + p), Number::whole(weights + p), sum);
    if (rest > 0) sum = hn::MulAdd(Real::first(row + whole, rest), Number::first(weights + whole, rest), sum);
    sums[j] = sum;
  });
  store_sums(sums, y.row(0));
}

template <int64_t kMost, class Body>
HWY_INLINE void with_constant(int64_t rows, const Body& body) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return with_constant<kMost - 1>(rows, body);
  }
  body(std::integral_constant<int64_t, kMost>());
}

// Calls body(rows, first, tile, tiles) for tiles of at most kMost rows, as equal as can be, their number a constant.
template <int64_t kMost, class Body>
HWY_INLINE void for_row_tiles(int64_t rows, const Body& body) {
  const int64_t tiles = (rows + kMost - 1) / kMost;
  for (int64_t tile = 0, first = 0; tile < tiles; ++tile) {
    const int64_t count = next_piece(rows - first, kMost);
    with_constant<kMost>(count, [&](auto constant) HWY_ATTR { body(constant, first, tile, tiles); });
    first += count;
  }
}

template <class Number, int64_t kOutputs>
void dot_outputs(ConstMatrix x, Part<typename Number::Stored> w, int64_t begin, int64_t end, Matrix y) {
  for (int64_t j = begin; j < end; j += kOutputs) {
    if (x.rows == 1) {
      dot_row<Number, kOutputs>(x, {w.row(j), w.stride}, y.cols_from(j, kOutputs));
      continue;
    }
    const int64_t next = j + kOutputs;
    for_row_tiles<kDotRows>(x.rows, [&](auto rows, int64_t first, int64_t tile, int64_t tiles) HWY_ATTR {
      const Share share(std::min(kOutputs, y.cols - next), tile, tiles);
      const Matrix out = y.rows_from(first, rows).cols_from(j, kOutputs);
      dot_tile<Number, rows, kOutputs>(x.rows_from(first, rows), {w.row(j), w.stride}, out, [&](int64_t p) HWY_ATTR {
        for (int64_t i = share.begin; i < share.end; ++i) hwy::Prefetch(w.row(next + i) + p);
      });
    });
  }
}

template <class Number>
void multiply_by_outputs(ConstMatrix x, Part<typename Number::Stored> w, Matrix y) {
  const int64_t many = few(x.rows) ? y.cols / kManyOutputs * kManyOutputs : 0, whole = y.cols / kOutputs * kOutputs;
  dot_outputs<Number, kManyOutputs>(x, w, 0, many, y);
  dot_outputs<Number, kOutputs>(x, w, many, whole, y);
  dot_outputs<Number, 1>(x, w, whole, y.cols, y);
}

template <class Number, int64_t kMostRows, int64_t kVectors, bool kWhole>
void chain_columns(ConstMatrix x, Part<typename Number::Stored> w, int64_t begin, int64_t end, Matrix y) {
  constexpr int64_t kColumns = kVectors * kLanes;
  for (int64_t j = begin; j < end; j += kColumns) {
    const int64_t next = j + kColumns, count = std::min(kColumns, end - j);
    for_row_tiles<kMostRows>(x.rows, [&](auto rows, int64_t first, int64_t tile, int64_t tiles) HWY_ATTR {
      const Share share(next < y.cols ? x.cols : 0, tile, tiles);
      const Matrix out = y.rows_from(first, rows).cols_from(j, count);
      chain_tile<Number, rows, kVectors, kWhole>(x.rows_from(first, rows), {w.data + j, w.stride}, out,
                                                 std::min(kLanes, count), [&](int64_t p) HWY_ATTR {
                                                   if (p < share.begin || p >= share.end) return;
                                                   for (int64_t i = 0; i < kColumns; i += kLanes)
                                                     hwy::Prefetch(w.row(p) + next + i);
                                                 });
    });
  }
}

template <class Number>
void multiply_by_inputs(ConstMatrix x, Part<typename Number::Stored> w, Matrix y) {
  constexpr int64_t kMany = kManyVectors * kLanes, kSome = kVectors * kLanes;
  const int64_t many = few(x.rows) ? y.cols / kMany * kMany : 0, some = many + (y.cols - many) / kSome * kSome;
  const int64_t whole = y.cols / kLanes * kLanes;
  chain_columns<Number, kFewRows, kManyVectors, true>(x, w, 0, many, y);
  chain_columns<Number, kChainRows, kVectors, true>(x, w, many, some, y);
  chain_columns<Number, kChainRows, 1, true>(x, w, some, whole, y);
  chain_columns<Number, kChainRows, 1, false>(x, w, whole, y.cols, y);
}

template <class Number>
void multiply_part(ConstMatrix x, Transpose transpose, const StoredMatrix& w, int64_t first, Matrix y) {
  const auto* data = static_cast<const typename Number::Stored*>(w.data);
  if (transpose == Transpose::yes)
    multiply_by_outputs<Number>(x, {data + first * w.cols, w.cols}, y);
  else
    multiply_by_inputs<Number>(x, {data + first, w.cols}, y);
}

}  // namespace

// y: the outputs from `first` on.
void multiply_outputs(ConstMatrix x, Transpose transpose, const StoredMatrix& w, int64_t first, Matrix y) {
  if (w.type == DType::f16) return multiply_part<Half<DType::f16>>(x, transpose, w, first, y);
  if (w.type == DType::bf16) return multiply_part<Half<DType::bf16>>(x, transpose, w, first, y);
  multiply_part<Real>(x, transpose, w, first, y);
}

// y: the outputs from `first` on, which begins a panel.
void multiply_panels(ConstMatrix x, const PackedMatrix& w, int64_t first, Matrix y) {
  const auto multiply = [&]<class Number>(Number) {
    for (int64_t j = 0; j < y.cols; j += kPanelOutputs)
      multiply_by_inputs<Number>(x, {static_cast<const typename Number::Stored*>(w.panel(first + j)), kPanelOutputs},
                                 y.cols_from(j, std::min(kPanelOutputs, y.cols - j)));
  };
  if (w.type == DType::f16) return multiply(Half<DType::f16>());
  if (w.type == DType::bf16) return multiply(Half<DType::bf16>());
  multiply(Real());
}

}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/rows.h"

namespace limpid::kernels {
namespace {

HWY_EXPORT(multiply_outputs);
HWY_EXPORT(multiply_panels);

constexpr int64_t kPackedAtOnce = 16;  // inputs: a line of each output's weights

// Rows that a thread takes at a time: they stay in the second cache while weights pass.
int64_t row_block(int64_t inputs) { return std::clamp<int64_t>((1 << 17) / std::max<int64_t>(1, inputs), 48, 192); }

// Outputs that a thread takes at a time: weights for half of the second cache, and some for every thread unless the
// whole product is smaller than what it takes to wake one. Tiles are whole, and threads do not write to the same line.
int64_t output_block(int64_t rows, int64_t outputs, int64_t inputs) {
  constexpr int64_t kStep = 64, kNumbers = 1 << 16, kParts = 8, kWorthAThread = 1 << 16;
  if (rows * outputs * inputs < kWorthAThread) return std::max<int64_t>(1, outputs);
  const int64_t most = kNumbers / std::max<int64_t>(1, inputs) / kStep * kStep;
  const int64_t share = (outputs / kParts + kStep - 1) / kStep * kStep;
  return std::max(kStep, std::min(most, share));
}

// Calls multiply(x, first, y) for blocks of rows and of outputs, the first of which is `first`.
template <class Multiply>
void in_blocks(ConstMatrix x, Matrix y, const real* bias, const Multiply& multiply) {
  const int64_t outputs = output_block(y.rows, y.cols, x.cols);
  const int64_t at_once = row_block(x.cols);
  const int64_t output_blocks = (y.cols + outputs - 1) / outputs, row_blocks = (y.rows + at_once - 1) / at_once;
  parallel_for(output_blocks * row_blocks, [&](int64_t i) {
    const int64_t row = i / output_blocks * at_once, rows = std::min(at_once, y.rows - row);
    const int64_t first = i % output_blocks * outputs, count = std::min(outputs, y.cols - first);
    const Matrix part = y.rows_from(row, rows).cols_from(first, count);
    multiply(x.rows_from(row, rows), first, part);
    if (bias) add_row(bias + first, part);
  });
}

template <class T>
void pack_panels(const T* w, const PackedMatrix& packed) {
  parallel_for(panels_of(packed.outputs), [&](int64_t i) {
    const int64_t first = i * kPanelOutputs, count = std::min(kPanelOutputs, packed.outputs - first);
    T* const panel = reinterpret_cast<T*>(packed.data.get()) + first * packed.inputs;
    for (int64_t p = 0; p < packed.inputs; p += kPackedAtOnce) {
      const int64_t end = std::min(packed.inputs, p + kPackedAtOnce);
      for (int64_t j = 0; j < count; ++j)
        for (int64_t q = p; q < end; ++q) panel[q * kPanelOutputs + j] = w[(first + j) * packed.inputs + q];
    }
  });
}

void check_sizes(ConstMatrix x, int64_t inputs, int64_t outputs, Matrix y) {
  check(x.cols == inputs && y.rows == x.rows && y.cols == outputs, "[row gemm] ({}×{})·({}×{}) does not give {}×{}",
        x.rows, x.cols, inputs, outputs, y.rows, y.cols);
}

}  // namespace

void row_gemm(ConstMatrix x, Transpose transpose_w, const StoredMatrix& w, Matrix y, const real* bias) {
  const bool by_output = transpose_w == Transpose::yes;
  check_sizes(x, by_output ? w.cols : w.rows, by_output ? w.rows : w.cols, y);
  check(w.type == kRealType || widens(w.type), "[row gemm] no product with numbers of type {}", name_of(w.type));
  in_blocks(x, y, bias, [&](ConstMatrix rows, int64_t first, Matrix part) {
    HWY_DYNAMIC_DISPATCH(multiply_outputs)(rows, transpose_w, w, first, part);
  });
}

PackedMatrix pack(const StoredMatrix& w) {
  check(w.type == kRealType || widens(w.type), "[row gemm] no product with numbers of type {}", name_of(w.type));
  PackedMatrix packed{w.type, w.rows, w.cols, nullptr};
  const int64_t panels = panels_of(w.rows);
  packed.data = allocate_panels(bytes_of(w.type, panels * kPanelOutputs * w.cols));
  if (widens(w.type))
    pack_panels(static_cast<const uint16_t*>(w.data), packed);
  else
    pack_panels(static_cast<const real*>(w.data), packed);
  return packed;
}

void row_gemm(ConstMatrix x, const PackedMatrix& w, Matrix y, const real* bias) {
  check_sizes(x, w.inputs, w.outputs, y);
  in_blocks(x, y, bias, [&](ConstMatrix rows, int64_t first, Matrix part) {
    HWY_DYNAMIC_DISPATCH(multiply_panels)(rows, w, first, part);
  });
}

}  // namespace limpid::kernels
#endif
