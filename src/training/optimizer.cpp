#include "training/optimizer.h"

#include <algorithm>
#include <utility>

namespace limpid {

Optimizer::Optimizer(const Parameters& parameters, const OptimizerOptions& options)
    : Optimizer(std::vector<NumberRange>{{0, parameters.trainable_size()}}, options) {}

Optimizer::Optimizer(std::vector<NumberRange> owned, const OptimizerOptions& options)
    : options_(options), owned_(std::move(owned)) {
  for (const NumberRange& range : owned_) size_ += range.count;
  m_ = make_flat_buffer(size_);
  v_ = make_flat_buffer(size_);
}

double Optimizer::step(Parameters& parameters, Gradients& gradients, double learning_rate) {
  gradients.finish();
  const double norm = clips() ? gradients.norm() : 0;
  step(parameters, gradients, learning_rate, norm);
  return norm;
}

void Optimizer::step(Parameters& parameters, const Gradients& gradients, double learning_rate, double norm,
                     const std::function<void(NumberRange)>& updated) {
  kernels::AdamStep adam{.learning_rate = learning_rate,
                         .beta1 = options_.beta1,
                         .beta2 = options_.beta2,
                         .eps = options_.eps,
                         .weight_decay = options_.weight_decay,
                         .decoupled = options_.decoupled,
                         .step = ++steps_};
  if (clips() && norm > options_.clip_norm) adam.gradient_scale = options_.clip_norm / norm;
  const auto decays = [&](const Weight& weight) {
    return options_.weight_decay == 0 || options_.decay_vectors || weight.is_matrix();
  };
  const std::vector<Gradients::Stretch> stretches = gradients.learned(decays);
  int64_t kept = 0;  // where the running means of the range begin
  for (const NumberRange& range : owned_) {
    for (const auto& [stretch, length, decay] : stretches) {
      const int64_t begin = std::max(range.begin, stretch), end = std::min(range.end(), stretch + length);
      if (begin >= end) continue;
      const int64_t at = kept + begin - range.begin;
      adam.weight_decay = decay ? options_.weight_decay : 0;
      kernels::adam(adam, end - begin, gradients.data() + begin, parameters.data() + begin, m_.get() + at,
                    v_.get() + at);
    }
    kept += range.count;
    if (updated) updated(range);
  }
}

void apply_statistics(Parameters& parameters, Tape& tape) {
  for (const StatisticsUpdate& update : tape.statistics())
    std::copy(update.values.begin(), update.values.end(), parameters.data(*update.weight));
  tape.statistics().clear();
}

}  // namespace limpid
