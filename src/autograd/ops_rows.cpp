// Operations that move whole rows or columns.

#include "autograd/ops.h"
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
      const ConstMatrix dy = tape.grad(y);
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
          const ConstMatrix dy = tape.grad(y);
          if (dy.rows == 0) return;
          kernels::scatter_add_rows(dy, rows.data(), 1, tape.grad_out_to_add(x));
        });
  }
  return y;
}

Tensor spread_rows(Run& run, const Tensor& x, std::span<const int32_t> rows, int64_t count) {
  check_ids("spread_rows", rows, count);
  const bool records = run.records({&x});
  Tensor y = run.make(count, x.cols(), records);
  kernels::fill_zero(y.values());
  kernels::scatter_add_rows(x.values(), rows.data(), 1, y.values());
  if (records) {
    run.tape()->record(
        [x = x.gradient_only(), rows = Ids(rows.begin(), rows.end()), y = y.gradient_only()](Tape& tape) {
          const ConstMatrix dy = tape.grad(y);
          if (dy.rows == 0) return;
          const GradientTarget dx = tape.grad_out(x);
          kernels::gather_rows(dy, rows.data(), static_cast<int64_t>(rows.size()), 1, dx.view, dx.accumulate);
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
        const ConstMatrix dy = tape.grad(into);
        if (dy.rows == 0) return;
        const GradientTarget dx = tape.grad_out(part);
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

namespace {

void rotate(ConstMatrix x, const Ids& positions, const std::vector<RotatedRows>& parts, bool inverse, Matrix y,
            bool accumulate) {
  int64_t begin = 0;
  for (const RotatedRows& part : parts) {
    kernels::rotary(x.rows_from(begin, part.rows), positions.data() + begin, *part.rotation, inverse,
                    y.rows_from(begin, part.rows), accumulate);
    begin += part.rows;
  }
}

}  // namespace

Tensor rotary(Run& run, const Tensor& x, std::span<const int32_t> positions, std::vector<RotatedRows> parts) {
  const bool records = run.records({&x});
  Tensor y = run.make(x.rows(), x.cols(), records);
  Ids places(positions.begin(), positions.end());
  rotate(x.values(), places, parts, false, y.values(), false);
  if (records) {
    run.tape()->record([x = x.gradient_only(), y = y.gradient_only(), places = std::move(places),
                        parts = std::move(parts)](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      const GradientTarget dx = tape.grad_out(x);
      rotate(dy, places, parts, true, dx.view, dx.accumulate);
    });
  }
  return y;
}

Tensor bucket_bias(Run& run, const Weight& weight, std::span<const int32_t> buckets) {
  check_ids(weight.name.c_str(), buckets, weight.shape[0]);
  const int64_t heads = weight.shape[1], columns = static_cast<int64_t>(buckets.size());
  const bool records = run.records({}, {&weight});
  Tensor table = run.make(heads, columns, records);
  std::vector<real> numbers(weight.size());
  read_numbers(weight, numbers.data());
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t c = 0; c < columns; ++c) table.values()(h, c) = numbers[buckets[c] * heads + h];
  if (records) {
    run.tape()->record([&weight, ids = Ids(buckets.begin(), buckets.end()), table = table.gradient_only()](Tape& tape) {
      const ConstMatrix dtable = tape.grad(table);
      if (dtable.rows == 0) return;
      real* const to = tape.gradients().open_to_add(weight);
      for (int64_t h = 0; h < dtable.rows; ++h)
        for (int64_t c = 0; c < dtable.cols; ++c) to[ids[c] * dtable.rows + h] += dtable(h, c);
    });
  }
  return table;
}

Tensor constant(Run& run, ConstMatrix numbers) {
  Tensor y = run.make(numbers.rows, numbers.cols, false);
  kernels::add_scaled(numbers, 1, y.values(), false);
  return y;
}

}  // namespace limpid
