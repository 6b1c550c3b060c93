#include "inspect/row_products.h"

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "kernels/gemm.h"
#include "tensor/quantize.h"

namespace limpid {

void RowsOfReals::set(int64_t i, const std::vector<double>& numbers) {
  check(std::ssize(numbers) == cols_, "[look] {} numbers in a row of {}", numbers.size(), cols_);
  std::transform(numbers.begin(), numbers.end(), numbers_.begin() + i * cols_,
                 [](double x) { return static_cast<real>(x); });
}

RowsOfReals products_with_rows(const RowsOfReals& directions, const Weight& table, const Projection* projection,
                               const RowUse& use) {
  using kernels::Transpose;
  constexpr int64_t kRowsAtOnce = 256;  // stay in the cache between being read and being multiplied
  const int64_t rows = table.shape[0], cols = table.shape[1];
  RowsOfReals products(directions.rows(), rows);
  parallel_ranges(rows, kRowsAtOnce, [&](int64_t begin, int64_t end) {
    const int64_t count = end - begin;
    std::vector<real> numbers(static_cast<size_t>(count * cols)), wide;
    read_rows(table, begin, count, numbers.data());
    ConstMatrix some(numbers.data(), count, cols);
    if (projection) {
      wide.resize(static_cast<size_t>(count * projection->outputs));
      const Matrix projected(wide.data(), count, projection->outputs);
      kernels::gemm(Transpose::no, some, Transpose::yes,
                    {projection->weight.data(), projection->outputs, projection->inputs}, projected, false);
      some = projected;
    }
    kernels::gemm(Transpose::no, directions.view(), Transpose::yes, some, products.view().cols_from(begin, count),
                  false);
    if (use) use(begin, some, products.view());
  });
  return products;
}

}  // namespace limpid
