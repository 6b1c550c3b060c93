#include "inspect/weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/nearest.h"
#include "tensor/quantize.h"

namespace limpid {
namespace {

std::vector<double> doubles(const std::vector<real>& numbers) { return {numbers.begin(), numbers.end()}; }

double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

}  // namespace

double dot(const double* a, const double* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

double length(const std::vector<double>& x) {
  return std::sqrt(dot(x.data(), x.data(), static_cast<int64_t>(x.size())));
}

std::vector<double> NormWeights::apply(const std::vector<double>& x, double scale) const {
  std::vector<double> y(x.size());
  const double middle = kind == NormKind::layer ? mean_of(x) : 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double z = kind == NormKind::batch ? (x[i] - mean[i]) / deviation[i] : (x[i] - middle) / scale;
    y[i] = gain[i] * z + bias[i];
  }
  return y;
}

std::vector<double> NormWeights::backward(const std::vector<double>& w, double scale) const {
  std::vector<double> v(w.size());
  for (size_t i = 0; i < w.size(); ++i) v[i] = w[i] * gain[i] / (kind == NormKind::batch ? deviation[i] : scale);
  if (kind != NormKind::layer) return v;
  const double middle = mean_of(v);  // the mean is taken away: its transpose is itself
  for (double& x : v) x -= middle;
  return v;
}

double NormWeights::constant(const std::vector<double>& w) const {
  double sum = 0;
  for (size_t i = 0; i < w.size(); ++i)
    sum += w[i] * (bias[i] - (kind == NormKind::batch ? gain[i] * mean[i] / deviation[i] : 0));
  return sum;
}

double NormWeights::scale_of(const std::vector<double>& x, double eps) const {
  const double middle = kind == NormKind::layer ? mean_of(x) : 0;
  double sum = 0;
  for (double value : x) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(x.size()) + eps);
}

double NormWeights::scale_of(const real* x, int64_t count, double eps) const {
  constexpr int64_t kLanes = 8;  // sums side by side, which a processor adds at once
  double sums[kLanes] = {}, squares[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(x[i]);
    sums[i % kLanes] += value;
    squares[i % kLanes] += value * value;
  }
  const double middle =
      kind == NormKind::layer ? std::accumulate(std::begin(sums), std::end(sums), 0.0) / static_cast<double>(count) : 0;
  const double square = std::accumulate(std::begin(squares), std::end(squares), 0.0) / static_cast<double>(count);
  return std::sqrt(std::max(0.0, square - middle * middle) + eps);
}

WeightTable::WeightTable(const Model& model) {
  model.each_parameter([&](const Weight& weight) { weights_.emplace(weight.name, weight); });
}

const Weight& WeightTable::weight(const std::string& name) const {
  const auto found = weights_.find(name);
  if (found == weights_.end()) {
    std::vector<std::string_view> names;
    for (const auto& entry : weights_) names.emplace_back(entry.first);
    fail("[look] the model has no weight {}{}: name one that its files have", name, did_you_mean(name, names));
  }
  return found->second;
}

std::vector<real> numbers_of(const Weight& weight) {
  std::vector<real> numbers(weight.size());
  read_numbers(weight, numbers.data());
  return numbers;
}

std::vector<real> WeightTable::numbers(const std::string& name) const { return numbers_of(weight(name)); }

std::vector<double> row_of(const Weight& weight, int64_t row) {
  const int64_t cols = weight.size() / weight.shape[0];
  check(row >= 0 && row < weight.shape[0], "[look] {} has {} rows, no row {}", weight.name, weight.shape[0], row);
  std::vector<real> numbers(cols);
  read_rows(weight, row, 1, numbers.data());
  return doubles(numbers);
}

Projection WeightTable::projection(const std::string& name, WeightLayout layout) const {
  const Weight& matrix = weight(name + ".weight");
  const bool turned = layout == WeightLayout::in_out;
  Projection result{.outputs = matrix.shape[turned ? 1 : 0], .inputs = matrix.shape[turned ? 0 : 1]};
  result.weight = numbers_of(matrix);
  if (turned) {
    const std::vector<real> stored = result.weight;
    for (int64_t i = 0; i < result.inputs; ++i)
      for (int64_t o = 0; o < result.outputs; ++o)
        result.weight[o * result.inputs + i] = stored[i * result.outputs + o];
  }
  if (has(name + ".bias")) result.bias = numbers(name + ".bias");
  return result;
}

NormWeights WeightTable::norm(const std::string& name, const NormOptions& options, int64_t width) const {
  NormWeights norm{.kind = options.kind, .gain = std::vector<double>(width, 1)};
  if (options.gain) norm.gain = doubles(numbers(name + ".weight"));
  for (double& gain : norm.gain) gain += static_cast<double>(options.offset);
  norm.bias.assign(norm.gain.size(), 0);
  if (has(name + ".bias")) norm.bias = doubles(numbers(name + ".bias"));
  if (options.kind == NormKind::batch) {
    norm.mean = doubles(numbers(name + ".running_mean"));
    norm.deviation = doubles(numbers(name + ".running_var"));
    for (double& variance : norm.deviation) variance = std::sqrt(variance + static_cast<double>(options.eps));
  }
  return norm;
}

const StackNames& stack_names(const Config& config, const std::string& side) {
  const ModelNames& names = names_of(config);
  const bool encoder = !config.writes() || (config.cross_attention() && side == "encoder");
  return encoder ? names.encoder : names.decoder;
}

const Weight& embedding_table(const WeightTable& weights, const Config& config, const std::string& side) {
  const bool encoder = side == "encoder";
  if (config.recurrent()) return weights.weight(encoder ? "encoder.embed.weight" : "decoder.embed.weight");
  const ModelNames& names = names_of(config);
  if (config.cross_attention() && !config.share_source_embedding)
    return weights.weight((encoder ? names.source_embedding : names.target_embedding) + ".weight");
  return weights.weight(names.embedding + ".weight");
}

}  // namespace limpid
