#include "layers/output.h"

namespace limpid {

Output::Output(int64_t width, int64_t vocab, const OutputOptions& options)
    : tied_(options.tied), factor_(options.factor), cap_(options.cap) {
  if (!tied_)
    weight_ = {.name = options.weight_name,
               .shape = {vocab, width},
               .role = ParameterRole::output,
               .initial = options.initial};
  if (!options.bias_name.empty())
    bias_ = {.name = options.bias_name, .shape = options.bias_shape, .role = ParameterRole::output};
}

Tensor Output::logits(Run& run, const Tensor& x, const Sequences& rows) const {
  const Weight* weights[] = {&weight()};
  const Weight* biases[] = {&bias_};
  const size_t bias_count = bias() ? 1 : 0;
  Tensor y = linear(run, factor_ == 1 ? x : scale(run, x, factor_), weights, std::span(biases, bias_count));
  if (cap_ > 0) y = soft_cap(run, y, cap_);
  return run.tap("logits", std::move(y), {.rows = &rows, .other_kernel = run.tape() != nullptr});
}

Loss Output::loss(Run& run, const Tensor& x, const Sequences& rows, std::span<const int32_t> labels,
                  const LossOptions& options) const {
  // With a cap all logits stand in memory too.
  if (cap_ > 0 || run.watched("logits")) return cross_entropy(run, logits(run, x, rows), labels, options);
  return cross_entropy(run, factor_ == 1 ? x : scale(run, x, factor_), weight(), bias(), labels, options);
}

void Output::visit(const WeightVisitor& visitor) {
  if (!tied_ && !none()) visitor(weight_);
  if (bias()) visitor(bias_);
}

}  // namespace limpid
