#pragma once
// Small integers q for a group of numbers x, with a factor d and, of some types, a minimum m, so that the squared error
// Σ (x − (d·q − m))² is small: what the block types (tensor/block_types.h) are made of.

#include <array>
#include <cstddef>

namespace limpid {

// The integers that a type has, and whether it has minima.
struct QuantRange {
  float low, high;
  bool affine;
};

struct GroupFit {
  float factor = 0, minimum = 0, error = 0;
  std::array<float, 32> q = {};  // whole numbers
};

inline float inverse_of(float factor) { return factor != 0 ? 1 / factor : 0; }

// The nearest integers for a factor and a minimum. `n`: a multiple of 8, at most 32.
GroupFit nearest_quants(const float* x, int n, QuantRange range, float factor, float minimum);

// Searches for factor and minimum: those that put the outermost numbers near the ends of the range, each refitted to
// the integers that it leads to. `minimum_from_zero`: the minimum is at least 0, as K-types keep it.
GroupFit best_fit(const float* x, int n, QuantRange range, bool minimum_from_zero);

}  // namespace limpid
