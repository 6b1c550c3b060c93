#pragma once
// The weights of a model by name, as numbers of their own: for what looks at the matrices themselves. Weights stored in
// another precision are converted.

#include <map>
#include <string>
#include <vector>

#include "inspect/session.h"
#include "models/names.h"

namespace limpid {

// y = x·Wᵀ + b with W as (outputs, inputs) however the model stores it.
struct Projection {
  int64_t outputs = 0, inputs = 0;
  std::vector<real> weight;
  std::vector<real> bias;  // empty: none

  const real* row(int64_t output) const { return weight.data() + output * inputs; }
};

// What a norm does to a vector once its scale is known: gain ⊙ (x - mean(x)) / scale + bias. RMS norm takes no mean
// away. Batch norm has one scale per feature, and takes its running mean away.
struct NormWeights {
  NormKind kind = NormKind::layer;
  std::vector<double> gain, bias;       // bias: zeros where there is none
  std::vector<double> mean, deviation;  // batch norm

  // y = norm(x) with the given scale (unused by batch norm).
  std::vector<double> apply(const std::vector<double>& x, double scale) const;
  // For a direction w in the norm's output: the direction in its input that gives the same product with x, and what
  // its constants (bias, running mean) add: w·norm(x) = backward(w)·x + constant(w).
  std::vector<double> backward(const std::vector<double>& w, double scale) const;
  double constant(const std::vector<double>& w) const;
  double scale_of(const std::vector<double>& x, double eps) const;
  double scale_of(const real* x, int64_t count, double eps) const;
};

class WeightTable {
 public:
  explicit WeightTable(const Model& model);

  bool has(const std::string& name) const { return weights_.contains(name); }
  const Weight& weight(const std::string& name) const;
  std::vector<real> numbers(const std::string& name) const;
  Projection projection(const std::string& name, WeightLayout layout) const;  // name.weight, name.bias
  NormWeights norm(const std::string& name, const NormOptions& options, int64_t width) const;

 private:
  std::map<std::string, Weight> weights_;
};

std::vector<real> numbers_of(const Weight& weight);
// One row of a matrix without converting the rest.
std::vector<double> row_of(const Weight& weight, int64_t row);
double dot(const double* a, const double* b, int64_t count);
double length(const std::vector<double>& x);

// The names of a stack's parameters; side as in stack_scope.
const StackNames& stack_names(const Config& config, const std::string& side);
// The table of token vectors that a side reads.
const Weight& embedding_table(const WeightTable& weights, const Config& config, const std::string& side);

}  // namespace limpid
