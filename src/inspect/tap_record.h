#pragma once
// TapRecord: the rows that chosen taps had at one position of a text, or at all of them, kept from one pass.

#include <map>
#include <string>
#include <vector>

#include "inspect/session.h"

namespace limpid {

struct TapRecord {
  // Rows of tokens by the tap's name, (positions, features); taps that fire once per step give one row per step.
  struct Rows {
    int64_t cols = 0;
    std::vector<real> numbers;
    int64_t rows() const { return cols == 0 ? 0 : static_cast<int64_t>(numbers.size()) / cols; }
    ConstMatrix view() const { return {numbers.data(), rows(), cols}; }
    std::vector<double> row(int64_t i) const;
  };
  std::map<std::string, Rows> taps;
  Tensor logits;

  const Rows& at(const std::string& name) const;
  bool has(const std::string& name) const { return taps.contains(name); }
};

// Runs the example and keeps every tap that one of the patterns matches; not for pairs.
TapRecord record_taps(const Model& model, const Example& example, const std::vector<std::string>& patterns);

}  // namespace limpid
