#include "kernels/small_gemm.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/small_gemm.cpp"
#include <hwy/foreach_target.h>

#include <array>
#include <utility>

#include "kernels/small_gemm-inl.h"
#include "kernels/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid {
namespace HWY_NAMESPACE {
namespace {

using kernels::SmallGemm;

// A tile is rows × vectors sums in registers, beside which the vectors of B and one number of A must find room.
constexpr int64_t kMaxVectors = kManyRegisters ? 4 : 2;
constexpr int64_t kMaxRows = 8;
constexpr int64_t tile_rows(int64_t vectors) { return vectors == kMaxVectors ? 6 : kMaxRows; }

// C[i…i+kRows, j…] for kVectors vectors of columns, the last of which `part` loads and stores.
template <int64_t kRows, int64_t kVectors, class Part>
HWY_INLINE void tile(const SmallGemm& gemm, int64_t i, int64_t j, Part part) {
  const Reals d;
  constexpr int64_t kLast = kVectors - 1;
  const real* a[kRows];
  RealVec sum[kRows][kVectors];
  unroll<kRows>([&](auto r) HWY_ATTR {
    a[r] = gemm.a.data + (i + r) * gemm.a.row;
    unroll<kVectors>([&](auto v) HWY_ATTR { sum[r][v] = hn::Zero(d); });
  });

  const int64_t k = gemm.b.rows, a_col = gemm.a.col, b_stride = gemm.b.stride;
  const real* b = gemm.b.data + j;
  for (int64_t p = 0, at = 0; p < k; ++p, at += a_col, b += b_stride) {
    RealVec row[kVectors];
    unroll<kLast>([&](auto v) HWY_ATTR { row[v] = hn::LoadU(d, b + v * kLanes); });
    row[kLast] = part.load(b + kLast * kLanes);
    unroll<kRows>([&](auto r) HWY_ATTR {
      const RealVec factor = hn::Set(d, a[r][at]);
      unroll<kVectors>([&](auto v) HWY_ATTR { sum[r][v] = hn::MulAdd(factor, row[v], sum[r][v]); });
    });
  }

  const auto finish = [&](auto accumulate) HWY_ATTR {
    const int64_t c_stride = gemm.c.stride, alpha_step = gemm.alpha_step;
    real* c = gemm.c.data + i * c_stride + j;
    const real* alpha = gemm.alpha + i * alpha_step;
    unroll<kRows>([&](auto r) HWY_ATTR {
      const RealVec factor = hn::Set(d, alpha[r * alpha_step]);
      const auto put = [&](RealVec x, real* to, auto width) HWY_ATTR {
        width.store(accumulate() ? hn::MulAdd(factor, x, width.load(to)) : hn::Mul(factor, x), to);
      };
      unroll<kLast>([&](auto v) HWY_ATTR { put(sum[r][v], c + v * kLanes, WholeVector()); });
      put(sum[r][kLast], c + kLast * kLanes, part);
      c += c_stride;
    });
  };
  gemm.accumulate ? finish(std::true_type()) : finish(std::false_type());
}

// Tiles of whole vectors, and tiles of one vector of which the first `lanes` lanes are columns.
using TileFunction = void (*)(const SmallGemm& gemm, int64_t i, int64_t j, size_t lanes);
using TileRow = std::array<TileFunction, kMaxRows>;  // by the number of rows - 1

template <int64_t kRows, int64_t kVectors>
void whole_tile(const SmallGemm& gemm, int64_t i, int64_t j, size_t /*lanes*/) {
  tile<kRows, kVectors>(gemm, i, j, WholeVector());
}
template <int64_t kRows>
void part_tile(const SmallGemm& gemm, int64_t i, int64_t j, size_t lanes) {
  tile<kRows, 1>(gemm, i, j, PartVector{lanes});
}

template <int64_t kVectors, int64_t... kRow>
constexpr TileRow whole_tiles(std::integer_sequence<int64_t, kRow...>) {
  return {whole_tile<std::min(kRow + 1, tile_rows(kVectors)), kVectors>...};
}
template <int64_t... kRow>
constexpr TileRow part_tiles(std::integer_sequence<int64_t, kRow...>) {
  return {part_tile<kRow + 1>...};
}
template <int64_t... kVector>
constexpr std::array<TileRow, kMaxVectors> all_whole_tiles(std::integer_sequence<int64_t, kVector...>) {
  return {whole_tiles<kVector + 1>(std::make_integer_sequence<int64_t, kMaxRows>())...};
}

constexpr auto kWholeTiles = all_whole_tiles(std::make_integer_sequence<int64_t, kMaxVectors>());
constexpr auto kPartTiles = part_tiles(std::make_integer_sequence<int64_t, kMaxRows>());

void panel(const SmallGemm& gemm, const TileRow& tiles, int64_t most_rows, int64_t j, size_t lanes) {
  for (int64_t i = 0; i < gemm.c.rows;) {
    const int64_t rows = next_piece(gemm.c.rows - i, most_rows);
    tiles[rows - 1](gemm, i, j, lanes);
    i += rows;
  }
}

}  // namespace

int64_t multiply_small_rows(int64_t n) { return tile_rows(next_piece(std::max<int64_t>(1, n / kLanes), kMaxVectors)); }

void multiply_small(const SmallGemm& gemm) {
  const int64_t vectors = gemm.c.cols / kLanes;
  for (int64_t v = 0; v < vectors;) {
    const int64_t width = next_piece(vectors - v, kMaxVectors);
    panel(gemm, kWholeTiles[width - 1], tile_rows(width), v * kLanes, 0);
    v += width;
  }
  const int64_t rest = gemm.c.cols - vectors * kLanes;
  if (rest > 0) panel(gemm, kPartTiles, kMaxRows, vectors * kLanes, static_cast<size_t>(rest));
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::kernels {
namespace {
HWY_EXPORT(multiply_small);
}  // namespace

void small_gemm(const SmallGemm& gemm) { HWY_DYNAMIC_DISPATCH(multiply_small)(gemm); }

}  // namespace limpid::kernels
#endif
