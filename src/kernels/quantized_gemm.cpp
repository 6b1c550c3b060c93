#include "kernels/quantized_gemm.h"

#include "kernels/quantized_simd.h"

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
constexpr int64_t kItems = 8;                      // that few rows are cut into: a thread reads neighbours in a run
constexpr int64_t kFewRows = 2;

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
  thread_local QuantizedRows buffer;  // kept: as large as the largest x so far
  QuantizedRows& rows = buffer;
  const int64_t block = first.form == PanelForm::rows_of_bytes ? 0 : kBlockNumbers;
  // Where there are minima, the sums of x themselves are wanted.
  const int32_t offset = has_minima(first.form) ? -1 : quant_offset(first.form);
  rows.quantize(x, block, offset, has_halves(first.form));

  const std::vector<Panel> panels = panels_of(parts);
  const auto count = static_cast<int64_t>(panels.size());
  const int64_t at_once =
      std::max({int64_t{1}, kItemBytes / first.panel_bytes, x.rows <= kFewRows ? count / kItems : 0});
  const int64_t column_items = (count + at_once - 1) / at_once;
  const int64_t row_items = (x.rows + kRowsAtOnce - 1) / kRowsAtOnce;
  parallel_for(column_items * row_items, [&](int64_t item) {
    const int64_t begin = item % column_items * at_once, row = item / column_items * kRowsAtOnce;
    const int64_t end = std::min<int64_t>(begin + at_once, static_cast<int64_t>(panels.size()));
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
}

}  // namespace kernels
}  // namespace limpid
#endif
