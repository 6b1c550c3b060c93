#include "kernels/quantized_gemm.h"

#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantized_gemm.cpp"
#include <hwy/foreach_target.h>

#include "kernels/quantized_gemm-inl.h"

#if HWY_ONCE

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"

namespace limpid {
HWY_EXPORT(multiply_panel);

namespace kernels {
namespace {

constexpr int64_t kRowsAtOnce = 240;               // x of one item stays in the second-level cache
constexpr int64_t kItemBytes = int64_t{48} << 10;  // of W that one item reads at least
constexpr int64_t kFewRows = 2;
constexpr int64_t kKept = int64_t{32} << 20;  // numbers of x, by each thread

struct Panel {
  const QuantizedPart* part;
  int64_t index;
};

// What one item computes: some panels, and some rows of x.
std::vector<Panel> panels_of(std::span<const QuantizedPart> parts) {
  std::vector<Panel> panels;
  for (const QuantizedPart& part : parts)
    for (int64_t i = 0; i < part.matrix->panels(); ++i) panels.push_back({&part, i});
  return panels;
}

// Which panels each item computes.
using Ranges = std::vector<std::pair<int64_t, int64_t>>;

Ranges equal_ranges(int64_t panels, int64_t at_once) {
  Ranges ranges;
  for (int64_t begin = 0; begin < panels; begin += at_once)
    ranges.emplace_back(begin, std::min(begin + at_once, panels));
  return ranges;
}

// Few rows wait for memory, which delivers long runs faster: each thread has one, three quarters of its share, and
// short ones from the rest, so that all threads end at the same time.
Ranges long_ranges(int64_t panels, int64_t at_once) {
  const int64_t team = threads(), run = panels * 3 / 4 / team;
  if (run <= at_once) return equal_ranges(panels, at_once);
  Ranges ranges;
  for (int64_t i = 0; i < team; ++i) ranges.emplace_back(i * run, (i + 1) * run);
  for (int64_t begin = team * run; begin < panels; begin += at_once)
    ranges.emplace_back(begin, std::min(begin + at_once, panels));
  return ranges;
}

void check_parts(ConstMatrix x, std::span<const QuantizedPart> parts, Matrix y) {
  for (const QuantizedPart& part : parts) {
    const QuantizedMatrix& w = *part.matrix;
    check(
        w.cols == x.cols && w.type == parts[0].matrix->type && x.rows == y.rows && part.first_column + w.rows <= y.cols,
        "[quantized] ({}×{})·({}×{})ᵀ does not fit columns {} to {} of {}×{}", x.rows, x.cols, w.rows, w.cols,
        part.first_column, part.first_column + w.rows, y.rows, y.cols);
  }
}

}  // namespace

void quantized_gemm(ConstMatrix x, std::span<const QuantizedPart> parts, Matrix y) {
  check_parts(x, parts, y);
  if (parts.empty() || x.rows == 0) return;
  const QuantizedMatrix& first = *parts[0].matrix;
  thread_local QuantizedRows buffer;  // kept for the next product, up to kKept numbers
  QuantizedRows& rows = buffer;
  const int64_t block = first.form == PanelForm::rows_of_bytes ? 0 : kBlockNumbers;
  // Where there are minima, the sums of x themselves are wanted.
  const int32_t offset = has_minima(first.form) ? -1 : quant_offset(first.form);
  rows.quantize(x, block, offset, has_halves(first.form));

  const std::vector<Panel> panels = panels_of(parts);
  const int64_t at_once = std::max<int64_t>(1, kItemBytes / first.panel_bytes);
  const Ranges ranges =
      x.rows <= kFewRows ? long_ranges(std::ssize(panels), at_once) : equal_ranges(std::ssize(panels), at_once);
  const int64_t column_items = std::ssize(ranges), row_items = (x.rows + kRowsAtOnce - 1) / kRowsAtOnce;
  parallel_for(column_items * row_items, [&](int64_t item) {
    const auto [begin, end] = ranges[item % column_items];
    const int64_t row = item / column_items * kRowsAtOnce;
    for (int64_t i = begin; i < end; ++i) {
      const QuantizedPart& part = *panels[i].part;
      const int64_t output = panels[i].index * kPanelOutputs;
      const Matrix out =
          y.rows_from(row, std::min(kRowsAtOnce, x.rows - row))
              .cols_from(part.first_column + output, std::min(kPanelOutputs, part.matrix->rows - output));
      HWY_DYNAMIC_DISPATCH(multiply_panel)
      (*part.matrix, panels[i].index, rows, row, part.bias ? part.bias + output : nullptr, out);
    }
  });
  if (x.rows * x.cols > kKept) rows = {};
}

}  // namespace kernels
}  // namespace limpid
#endif
