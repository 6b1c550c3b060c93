#pragma once
// A matrix made smaller for an overview: each cell is the value farthest from zero of the numbers it stands for, so
// that nothing strong is lost.

#include <vector>

#include "tensor/matrix.h"

namespace limpid {

struct Reduction {
  int64_t rows = 0, columns = 0;  // at most; 0: all
  bool wanted() const { return rows > 0 || columns > 0; }
};

struct Reduced {
  int64_t rows = 0, columns = 0;
  int64_t rows_per_cell = 1, columns_per_cell = 1;
  std::vector<real> values;
};
Reduced reduce(ConstMatrix values, const Reduction& reduction);

}  // namespace limpid
