#pragma once
// One weight as numbers: how they are spread, a histogram, and the matrix itself, whole, cut or reduced for a picture.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "inspect/reduce.h"
#include "models/model.h"

namespace limpid {

struct WeightCut {
  std::pair<int64_t, int64_t> rows = {0, -1}, columns = {0, -1};  // first and last; a last of -1: to the end
  Reduction reduction;
  int64_t bins = 64;
};

struct WeightSummary {
  std::string name;
  std::vector<int64_t> shape;
  std::string type;                                     // as it is stored
  std::pair<int64_t, int64_t> rows, columns;            // that were looked at, first and last
  double least = 0, most = 0, mean = 0, deviation = 0;  // of those
  std::vector<int32_t> histogram;                       // of as many bins from least to most
  Reduced values;
};

// The weight of this name; throws where there is none, with the nearest name. More than two dimensions are rows of the
// last one.
Weight find_weight(const Model& model, const std::string& name);
WeightSummary summarize(const Weight& weight, const WeightCut& cut);

nlohmann::ordered_json summary_json(const WeightSummary& summary);  // without the matrix
nlohmann::ordered_json values_json(const WeightSummary& summary);   // the matrix, a list of rows

}  // namespace limpid
