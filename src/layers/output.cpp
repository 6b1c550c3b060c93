#include "layers/output.h"

namespace limpid {

Output::Output(int64_t width, int64_t vocab, const OutputOptions& options) : tied_(options.tied) {
  if (!tied_)
    weight_ = {.name = options.weight_name, .shape = {vocab, width}, .part = Part::output, .initial = options.initial};
  if (!options.bias_name.empty())
    bias_ = {.name = options.bias_name, .shape = options.bias_shape, .part = Part::output};
}

Tensor Output::logits(Run& run, const Tensor& x, const Sequences& rows) const {
  const Weight* weights[] = {&weight()};
  const Weight* biases[] = {&bias_};
  const size_t bias_count = bias() ? 1 : 0;
  return run.tap("logits", linear(run, x, weights, std::span(biases, bias_count)),
                 {.rows = &rows, .other_kernel = run.tape() != nullptr});
}

Loss Output::loss(Run& run, const Tensor& x, const Sequences& rows, std::span<const int32_t> labels,
                  const LossOptions& options) const {
  if (run.watched("logits")) return cross_entropy(run, logits(run, x, rows), labels, options);
  return cross_entropy(run, x, weight(), bias(), labels, options);
}

void Output::visit(const WeightVisitor& visitor) {
  if (!tied_) visitor(weight_);
  if (bias()) visitor(bias_);
}

}  // namespace limpid
