#include "inspect/sae.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"

namespace limpid {

Sae::Sae(SaeConfig config)
    : w_enc{.name = "W_enc", .shape = {config.inputs, config.features}},
      b_enc{.name = "b_enc", .shape = {config.features}},
      w_dec{.name = "W_dec",
            .shape = {config.features, config.inputs},
            .initial = Initial::normal(1 / std::sqrt(static_cast<double>(config.inputs)))},
      b_dec{.name = "b_dec", .shape = {config.inputs}},
      config_(std::move(config)) {
  check(config_.inputs > 0 && config_.features > 0, "[sae] an autoencoder has at least one input and one feature");
  check(config_.kind != SaeKind::topk || (config_.k > 0 && config_.k <= config_.features),
        "[sae] k is {}: it lies between 1 and the {} features", config_.k, config_.features);
}

void Sae::visit_parameters(const WeightVisitor& visitor) {
  for (Weight* weight : {&w_enc, &b_enc, &w_dec, &b_dec}) visitor(*weight);
}

void Sae::placed() {
  column_ = b_dec;
  column_.shape = {config_.inputs, 1};
}

Tensor Sae::encode(Run& run, const Tensor& x) const {
  // x - b_dec: the bias as a linear map of the number -1, so that its gradient flows.
  const Weight *column = &column_, *matrix = &w_enc, *encoder_bias = &b_enc;
  const std::vector<real> minus(x.rows(), -1);
  const Tensor centred =
      add(run, x, linear(run, constant(run, {minus.data(), x.rows(), 1}), {&column, 1}, {}, WeightLayout::out_in));
  Tensor features =
      activation(run, linear(run, centred, {&matrix, 1}, {&encoder_bias, 1}, WeightLayout::in_out), Activation::relu);
  if (config_.kind == SaeKind::relu) return features;
  if (!run.tape()) {
    keep_largest(config_.k, features.values());
    return features;
  }
  Tensor mask = constant(run, features.values());
  keep_largest(config_.k, mask.values());
  parallel_ranges(mask.values().size(), 1 << 16, [numbers = mask.values().data](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) numbers[i] = numbers[i] > 0;
  });
  return multiply(run, features, mask);
}

Tensor Sae::decode(Run& run, const Tensor& features) const {
  const Weight *matrix = &w_dec, *bias = &b_dec;
  return linear(run, features, {&matrix, 1}, {&bias, 1}, WeightLayout::in_out);
}

void keep_largest(int64_t k, Matrix x) {
  parallel_for(x.rows, [&](int64_t r) {
    real* row = x.row(r);
    std::vector<real> sorted(row, row + x.cols);
    if (k < x.cols) std::nth_element(sorted.begin(), sorted.begin() + (k - 1), sorted.end(), std::greater<>());
    const real least = k < x.cols ? sorted[k - 1] : 0;
    int64_t larger = 0;
    for (int64_t i = 0; i < x.cols; ++i) larger += row[i] > least;
    int64_t equal = k - larger;  // of those as large as the least, so many stay
    for (int64_t i = 0; i < x.cols; ++i) {
      const bool kept = row[i] > 0 && (row[i] > least || (row[i] == least && equal-- > 0));
      if (!kept) row[i] = 0;
    }
  });
}

LoadedSae make_sae(const SaeConfig& config) {
  LoadedSae loaded{.sae = std::make_unique<Sae>(config), .parameters = nullptr};
  loaded.parameters =
      std::make_unique<Parameters>([&](const WeightVisitor& visitor) { loaded.sae->visit_parameters(visitor); });
  loaded.sae->placed();
  return loaded;
}

}  // namespace limpid
