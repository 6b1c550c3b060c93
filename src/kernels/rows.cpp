#include "kernels/rows.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/elementwise.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

// y (+)= factor·x
void scale_row(const real* x, real factor, real* y, int64_t n, bool accumulate) {
  const auto f = hn::Set(Reals(), factor);
  if (accumulate) {
    for_each_vector(n, [&](int64_t j, auto part)
                           HWY_ATTR { part.store(hn::MulAdd(f, part.load(x + j), part.load(y + j)), y + j); });
  } else {
    for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR { part.store(hn::Mul(f, part.load(x + j)), y + j); });
  }
}

void gather(ConstMatrix table, const int32_t* ids, real factor, Matrix y, bool accumulate) {
  for (int64_t i = 0; i < y.rows; ++i) scale_row(table.row(ids[i]), factor, y.row(i), y.cols, accumulate);
}

// table[ids[i]] += factor·x[i] where ids[i] leaves the remainder `part` when divided by `parts`
void scatter(ConstMatrix x, const int32_t* ids, real factor, Matrix table, int32_t part, int32_t parts) {
  for (int64_t i = 0; i < x.rows; ++i) {
    if (ids[i] % parts == part) scale_row(x.row(i), factor, table.row(ids[i]), x.cols, true);
  }
}

void add_row_to(const real* row, Matrix y) {
  for (int64_t i = 0; i < y.rows; ++i) scale_row(row, 1, y.row(i), y.cols, true);
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(scale_row);
HWY_EXPORT(gather);
HWY_EXPORT(scatter);
HWY_EXPORT(add_row_to);

namespace kernels {
namespace {
constexpr int64_t kRange = 16 * 1024;  // numbers one range works on
constexpr int32_t kParts = 8;          // of a table that is added to
}  // namespace

void gather_rows(ConstMatrix table, const int32_t* ids, int64_t count, real factor, Matrix y, bool accumulate) {
  const int64_t grain = std::max<int64_t>(1, kRange / std::max<int64_t>(1, y.cols));
  parallel_ranges(count, grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(gather)(table, ids + begin, factor, y.rows_from(begin, end - begin), accumulate);
  });
}

// The table's rows are dealt out to parts like cards; a part adds to its own rows only, in the order of i. (Ranges of
// columns would do too, but whole rows are faster to walk over: measured, 1.3 times.)
void scatter_add_rows(ConstMatrix x, const int32_t* ids, real factor, Matrix table) {
  const int32_t parts = x.size() < kRange ? 1 : kParts;
  parallel_for(parts, [&](int64_t part) {
    HWY_DYNAMIC_DISPATCH(scatter)(x, ids, factor, table, static_cast<int32_t>(part), parts);
  });
}

void add_scaled(ConstMatrix x, real factor, Matrix y, bool accumulate) {
  const bool flat = x.contiguous() && y.contiguous();
  parallel_elements(x.rows, x.cols, flat, [&](int64_t i, int64_t j, int64_t count) {
    HWY_DYNAMIC_DISPATCH(scale_row)(x.row(i) + j, factor, y.row(i) + j, count, accumulate);
  });
}

void add_row(const real* row, Matrix y) { HWY_DYNAMIC_DISPATCH(add_row_to)(row, y); }

void fill_zero(Matrix y) {
  parallel_elements(y.rows, y.cols, y.contiguous(),
                    [&](int64_t i, int64_t j, int64_t count) { std::fill_n(y.row(i) + j, count, real{0}); });
}

}  // namespace kernels
}  // namespace limpid
#endif
