#include "training/optimizer.h"

#include <algorithm>

namespace limpid {

Optimizer::Optimizer(const Parameters& parameters, const OptimizerOptions& options)
    : options_(options),
      m_(make_flat_buffer(parameters.trainable_size())),
      v_(make_flat_buffer(parameters.trainable_size())),
      size_(parameters.trainable_size()) {}

double Optimizer::step(Parameters& parameters, Gradients& gradients, double learning_rate) {
  gradients.finish();
  kernels::AdamStep adam{.learning_rate = learning_rate,
                         .beta1 = options_.beta1,
                         .beta2 = options_.beta2,
                         .eps = options_.eps,
                         .weight_decay = options_.weight_decay,
                         .decoupled = options_.decoupled,
                         .step = ++steps_};
  double norm = 0;
  if (options_.clip_norm > 0) {
    norm = gradients.norm();
    if (norm > options_.clip_norm) adam.gradient_scale = options_.clip_norm / norm;
  }
  const auto decays = [&](const Weight& weight) {
    return options_.weight_decay == 0 || options_.decay_vectors || weight.is_matrix();
  };
  for (const auto& [begin, count, decay] : gradients.learned(decays)) {
    adam.weight_decay = decay ? options_.weight_decay : 0;
    kernels::adam(adam, count, gradients.data() + begin, parameters.data() + begin, m_.get() + begin, v_.get() + begin);
  }
  return norm;
}

void apply_statistics(Parameters& parameters, Tape& tape) {
  for (const StatisticsUpdate& update : tape.statistics())
    std::copy(update.values.begin(), update.values.end(), parameters.data(*update.weight));
  tape.statistics().clear();
}

}  // namespace limpid
