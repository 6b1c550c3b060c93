// Operations that move whole rows or columns.

#include "autograd/ops.h"
#include "kernels/rotary.h"
#include "kernels/rows.h"
#include "tensor/quantize.h"

namespace limpid {
namespace {

using Ids = std::vector<int32_t>;

void check_ids(const char* what, std::span<const int32_t> ids, int64_t rows) {
  for (size_t i = 0; i < ids.size(); ++i)
    check(ids[i] >= 0 && ids[i] < rows, "[{}] id {} at place {} is not in [0, {})", what, ids[i], i, rows);
}

// A table in the precision the engine computes in; converted row by row where it is stored in another.
void gather(const Weight& table, std::span<const int32_t> ids, real factor, Matrix y) {
  if (table.type == kRealType) {
    kernels::gather_rows(table.matrix(), ids.data(), static_cast<int64_t>(ids.size()), factor, y, false);
    return;
  }
  for (int64_t i = 0; i < y.rows; ++i) {
    read_rows(table, ids[i], 1, y.row(i));
    for (int64_t j = 0; j < y.cols; ++j) y(i, j) *= factor;
  }
}

}  // namespace

Tensor embedding(Run& run, const Weight& table, std::span<const int32_t> ids, real factor) {
  check_ids(table.name.c_str(), ids, table.shape[0]);
  const bool records = run.records({}, {&table});
  Tensor y = run.make(static_cast<int64_t>(ids.size()), table.shape[1], records);
  gather(table, ids, factor, y.values());
  if (records) {
    run.tape()->record([&table, ids = Ids(ids.begin(), ids.end()), y = y.gradient_only(), factor](Tape& tape) {
      const ConstMatrix dy = tape.reached(y);
      if (dy.rows == 0) return;
      kernels::scatter_add_rows(dy, ids.data(), factor,
                                {tape.gradients().open_to_add(table), table.shape[0], table.shape[1]});
    });
  }
  return y;
}

Tensor select_rows(Run& run, const Tensor& x, std::span<const int32_t> rows) {
  check_ids("select_rows", rows, x.rows());
  const bool records = run.records({&x});
  Tensor y = run.make(static_cast<int64_t>(rows.size()), x.cols(), records);
  kernels::gather_rows(x.values(), rows.data(), y.rows(), 1, y.values(), false);
  if (records) {
    run.tape()->record(
        [x = x.gradient_only(), rows = Ids(rows.begin(), rows.end()), y = y.gradient_only()](Tape& tape) {
          const ConstMatrix dy = tape.reached(y);
          if (dy.rows == 0) return;
          kernels::scatter_add_rows(dy, rows.data(), 1, tape.target_to_add(x));
        });
  }
  return y;
}

namespace {

// Writes the parts into their places of one value and, going back, reads their gradients from there.
Tensor assemble(Run& run, std::span<const Tensor> parts, int64_t rows, int64_t cols,
                const std::function<Tensor(const Tensor& whole, int64_t begin, const Tensor& part)>& place,
                bool by_rows) {
  bool records = false;
  for (const Tensor& part : parts) records = records || run.records({&part});
  Tensor whole = run.make(rows, cols, records);
  int64_t begin = 0;
  for (const Tensor& part : parts) {
    Tensor into = place(whole, begin, part);
    kernels::add_scaled(part.values(), 1, into.values(), false);
    if (records && part.needs_gradient()) {
      run.tape()->record([part = part.gradient_only(), into = into.gradient_only()](Tape& tape) {
        const ConstMatrix dy = tape.reached(into);
        if (dy.rows == 0) return;
        const GradientTarget dx = tape.target(part);
        kernels::add_scaled(dy, 1, dx.view, dx.accumulate);
      });
    }
    begin += by_rows ? part.rows() : part.cols();
  }
  return whole;
}

}  // namespace

Tensor concatenate_rows(Run& run, std::span<const Tensor> parts) {
  int64_t rows = 0;
  for (const Tensor& part : parts) rows += part.rows();
  return assemble(
      run, parts, rows, parts.front().cols(),
      [](const Tensor& whole, int64_t begin, const Tensor& part) { return whole.slice(begin, part.rows()); }, true);
}

Tensor concatenate_columns(Run& run, std::span<const Tensor> parts) {
  int64_t cols = 0;
  for (const Tensor& part : parts) cols += part.cols();
  return assemble(
      run, parts, parts.front().rows(), cols,
      [](const Tensor& whole, int64_t begin, const Tensor& part) { return whole.columns(begin, part.cols()); }, false);
}

Tensor rotary(Run& run, const Tensor& x, std::span<const int32_t> positions, int64_t head_size, real theta) {
  const bool records = run.records({&x});
  Tensor y = run.make(x.rows(), x.cols(), records);
  kernels::rotary(x.values(), positions.data(), head_size, theta, false, y.values(), false);
  if (records) {
    run.tape()->record([x = x.gradient_only(), y = y.gradient_only(),
                        positions = Ids(positions.begin(), positions.end()), head_size, theta](Tape& tape) {
      const ConstMatrix dy = tape.reached(y);
      if (dy.rows == 0) return;
      const GradientTarget dx = tape.target(x);
      kernels::rotary(dy, positions.data(), head_size, theta, true, dx.view, dx.accumulate);
    });
  }
  return y;
}

Tensor constant(Run& run, ConstMatrix numbers) {
  Tensor y = run.make(numbers.rows, numbers.cols, false);
  kernels::add_scaled(numbers, 1, y.values(), false);
  return y;
}

}  // namespace limpid
