#include "layers/norm.h"

namespace limpid {

Norm::Norm(const std::string& name, int64_t width, const NormOptions& options)
    : options_(options),
      gain_{.name = name + ".weight",
            .shape = {width},
            .role = ParameterRole::norm,
            .initial = options.offset == 0 ? Initial::ones() : Initial::zeros()},
      bias_{.name = name + ".bias", .shape = {width}, .role = ParameterRole::norm},
      running_mean_{.name = name + ".running_mean", .shape = {width}, .role = ParameterRole::norm, .trainable = false},
      running_variance_{.name = name + ".running_var",
                        .shape = {width},
                        .role = ParameterRole::norm,
                        .initial = Initial::ones(),
                        .trainable = false} {
  options_.bias = options.bias && options.kind != NormKind::rms;
}

Tensor Norm::forward(Run& run, const Tensor& x, const std::string& tap, const Sequences& rows) const {
  return run.tap(tap, normalize(run, x, tap, rows), {&rows, nullptr, options_.parts});
}

Tensor Norm::normalize(Run& run, const Tensor& x, const std::string& tap, const Sequences& rows) const {
  const Weight* bias = options_.bias ? &bias_ : nullptr;
  if (options_.kind == NormKind::batch)
    return batch_norm(run, x, gain_, bias_, {&running_mean_, &running_variance_}, options_.eps);
  const NormGain gain = options_.gain ? NormGain(gain_, options_.offset) : NormGain();
  if (options_.parts == 1 && run.watched(tap + ".scale")) {
    const Tensor scale =
        run.tap(tap + ".scale", norm_scale(run, x, options_.kind, options_.eps), {.rows = &rows, .other_kernel = true});
    return normalize_by(run, x, scale, options_.kind, gain, bias);
  }
  if (options_.kind == NormKind::rms) return rms_norm(run, x, gain, options_.eps, options_.parts);
  return layer_norm(run, x, gain, bias, options_.eps, options_.parts);
}

void Norm::visit(const WeightVisitor& visitor) {
  if (options_.gain) visitor(gain_);
  if (options_.bias || options_.kind == NormKind::batch) visitor(bias_);
  if (options_.kind == NormKind::batch) {
    visitor(running_mean_);
    visitor(running_variance_);
  }
}

}  // namespace limpid
