#include "inspect/reduce.h"

#include <algorithm>
#include <cmath>

#include "base/cancellation.h"

namespace limpid {
namespace {

int64_t per_cell(int64_t count, int64_t most) {
  return most <= 0 ? 1 : std::max<int64_t>(1, (count + most - 1) / most);
}

}  // namespace

Reduced reduce(ConstMatrix values, const Reduction& reduction) {
  Reduced result{.rows_per_cell = per_cell(values.rows, reduction.rows),
                 .columns_per_cell = per_cell(values.cols, reduction.columns),
                 .values = {}};
  result.rows = (values.rows + result.rows_per_cell - 1) / result.rows_per_cell;
  result.columns = (values.cols + result.columns_per_cell - 1) / result.columns_per_cell;
  if (result.rows_per_cell == 1 && result.columns_per_cell == 1) {  // nothing to choose from
    for (int64_t i = 0; i < values.rows; ++i)
      result.values.insert(result.values.end(), values.row(i), values.row(i) + values.cols);
    return result;
  }
  result.values.resize(static_cast<size_t>(result.rows * result.columns));
  for (int64_t i = 0; i < result.rows; ++i) {
    check_cancelled();
    for (int64_t j = 0; j < result.columns; ++j) {
      real strongest = values(i * result.rows_per_cell, j * result.columns_per_cell);
      for (int64_t r = i * result.rows_per_cell; r < std::min((i + 1) * result.rows_per_cell, values.rows); ++r)
        for (int64_t c = j * result.columns_per_cell; c < std::min((j + 1) * result.columns_per_cell, values.cols); ++c)
          if (std::isfinite(values(r, c)) &&
              (!std::isfinite(strongest) || std::abs(values(r, c)) > std::abs(strongest)))
            strongest = values(r, c);
      result.values[static_cast<size_t>(i * result.columns + j)] = strongest;
    }
  }
  return result;
}

}  // namespace limpid
