#include "inspect/encoder_head.h"

#include <cmath>

#include "autograd/ops.h"

namespace limpid {

EncoderHead::EncoderHead(const Config& config, const WeightTable& weights)
    : config_(config),
      weights_(weights),
      classifies_(!config.labels.empty()),
      dense_(classifies_ ? names_of(config).head.label_dense : names_of(config).head.dense),
      norm_(names_of(config).head.norm),
      activation_(config.head_activation) {}

Tensor EncoderHead::apply(Run& run, const Tensor& x) const {
  const Weight* weight[] = {&weights_.weight(dense_ + ".weight")};
  const Weight* bias[] = {weights_.has(dense_ + ".bias") ? &weights_.weight(dense_ + ".bias") : nullptr};
  Tensor y = linear(run, x, weight, std::span(bias, bias[0] ? 1 : 0));
  y = activation(run, std::move(y), activation_);
  if (classifies_) return y;
  const std::string norm_bias = norm_ + ".bias";
  return layer_norm(run, y, weights_.weight(norm_ + ".weight"),
                    weights_.has(norm_bias) ? &weights_.weight(norm_bias) : nullptr, config_.norm_eps);
}

std::vector<double> EncoderHead::backward(const std::vector<double>& w, const std::vector<double>& x,
                                          double& constant) const {
  const Projection dense = weights_.projection(dense_, WeightLayout::out_in);
  std::vector<real> before(dense.outputs);
  for (int64_t o = 0; o < dense.outputs; ++o) {
    double sum = dense.bias.empty() ? 0.0 : static_cast<double>(dense.bias[o]);
    for (int64_t i = 0; i < dense.inputs; ++i) sum += static_cast<double>(dense.row(o)[i]) * x[i];
    before[o] = static_cast<real>(sum);
  }
  Run run({});
  const Tensor after = activation(run, limpid::constant(run, {before.data(), 1, dense.outputs}), activation_);
  std::vector<double> hidden(after.values().data, after.values().data + dense.outputs), v = w;
  if (!classifies_) {
    const NormWeights norm = weights_.norm(norm_, {NormKind::layer, config_.norm_eps}, dense.outputs);
    constant += norm.constant(w);
    v = norm.backward(w, norm.scale_of(hidden, static_cast<double>(config_.norm_eps)));
  }
  std::vector<double> result(x.size());
  for (int64_t o = 0; o < dense.outputs; ++o) {
    const auto pre = static_cast<double>(before[o]);
    const double ratio = std::abs(pre) > 1e-12 ? hidden[o] / pre : 0;
    if (!dense.bias.empty()) constant += v[o] * ratio * static_cast<double>(dense.bias[o]);
    for (int64_t i = 0; i < dense.inputs; ++i) result[i] += v[o] * ratio * static_cast<double>(dense.row(o)[i]);
  }
  return result;
}

}  // namespace limpid
