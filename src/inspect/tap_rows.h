#pragma once
// Whose the rows of a tapped value are: the sequence and position of each, whether they stand end to end, step by step
// or in the order of time; and the values of chosen taps of one text, put in the order of positions.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "autograd/probe.h"
#include "inspect/session.h"

namespace limpid {

struct RowPlace {
  int64_t sequence = 0, position = 0;
};

// Of a value of pairs: whose its queries are.
std::vector<RowPlace> row_places(const Tap& tap, const Batch& batch);

// A tap's values in one text: (positions, features), or of pairs (heads, queries, keys).
struct TapValues {
  bool pairs = false;
  int64_t heads = 1;      // of pairs
  int64_t positions = 0;  // rows, or queries of each head
  int64_t cols = 0;       // features, or keys
  std::vector<real> numbers = {};
  Tensor kept = {};  // instead of numbers: where a pass has left them, end to end

  std::span<const real> all() const {
    if (kept.empty()) return numbers;
    return {kept.values().data, static_cast<size_t>(kept.values().size())};
  }
  const real* row(int64_t position, int64_t head = 0) const {
    return all().data() + (head * positions + position) * cols;
  }
  real* row(int64_t position, int64_t head = 0) { return numbers.data() + (head * positions + position) * cols; }
  // The mean of the rows; not for pairs.
  std::vector<double> mean() const;
};

// Gathers what a tap shows, which may come step by step. The batch holds one text.
void gather_values(const Tap& tap, const Batch& batch, TapValues& into);

// The taps of these names (no patterns) in one pass over the example, or as its memory has them.
std::map<std::string, TapValues> tap_values(const Model& model, const Example& example,
                                            const std::vector<std::string>& names);

}  // namespace limpid
