#pragma once
// A matrix made smaller for an overview: each cell is the value farthest from zero of the numbers it stands for, so
// that nothing strong is lost.

#include "server/inspect_call.h"
#include "tensor/matrix.h"

namespace limpid {

struct Reduction {
  int64_t rows = 0, columns = 0;  // at most; 0: all
  bool wanted() const { return rows > 0 || columns > 0; }
};

// "reduce": {"rows": 64, "columns": 64}; null: nothing is reduced; not there: as `otherwise` says.
Reduction read_reduction(InspectCall& call, const Reduction& otherwise);

struct Reduced {
  int64_t rows = 0, columns = 0;
  int64_t rows_per_cell = 1, columns_per_cell = 1;
  std::vector<real> values;
};
Reduced reduce(ConstMatrix values, const Reduction& reduction);

}  // namespace limpid
