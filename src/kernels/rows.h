#pragma once
// Moving whole rows: token embeddings, positions, selections and re-orderings of tokens.

#include "tensor/matrix.h"

namespace limpid::kernels {

// y[i] (+)= factor·table[ids[i]]. Ids lie in [0, table.rows): callers check.
void gather_rows(ConstMatrix table, const int32_t* ids, int64_t count, real factor, Matrix y, bool accumulate);

// table[ids[i]] += factor·x[i], in the order of i whatever the number of threads.
void scatter_add_rows(ConstMatrix x, const int32_t* ids, real factor, Matrix table);

// y (+)= factor·x
void add_scaled(ConstMatrix x, real factor, Matrix y, bool accumulate);

// y[i] += row, by the calling thread alone: for blocks that are still in its cache.
void add_row(const real* row, Matrix y);

// y = 0
void fill_zero(Matrix y);

}  // namespace limpid::kernels
