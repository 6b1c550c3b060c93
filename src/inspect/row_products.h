#pragma once
// Directions against every row of a large table, such as the vectors of all tokens: the table is read once, in any
// precision, some rows at a time, and never copied whole.

#include <functional>
#include <span>
#include <vector>

#include "inspect/weights.h"

namespace limpid {

// A matrix that owns its numbers.
class RowsOfReals {
 public:
  RowsOfReals(int64_t rows, int64_t cols) : rows_(rows), cols_(cols), numbers_(static_cast<size_t>(rows * cols)) {}

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  std::span<const real> row(int64_t i) const { return {numbers_.data() + i * cols_, static_cast<size_t>(cols_)}; }
  void set(int64_t i, const std::vector<double>& numbers);
  Matrix view() { return {numbers_.data(), rows_, cols_}; }
  ConstMatrix view() const { return {numbers_.data(), rows_, cols_}; }

 private:
  int64_t rows_, cols_;
  std::vector<real> numbers_;
};

// Called with some of the table's rows, of which the first has the given number, and with all products.
using RowUse = std::function<void(int64_t first, ConstMatrix rows, Matrix products)>;

// (directions, rows of the table): products(i, r) = directions(i)·table(r). With a projection every row of the table
// passes through it first. `use` is called for all rows, by several threads.
RowsOfReals products_with_rows(const RowsOfReals& directions, const Weight& table,
                               const Projection* projection = nullptr, const RowUse& use = {});

}  // namespace limpid
