#include "layers/linear.h"

namespace limpid {

Linear::Linear(int64_t inputs, const std::vector<Output>& outputs, const LinearOptions& options)
    : layout_(options.layout) {
  for (const Output& output : outputs) {
    const std::vector<int64_t> shape =
        layout_ == WeightLayout::out_in ? std::vector{output.size, inputs} : std::vector{inputs, output.size};
    weights_.push_back({.name = output.weight_name,
                        .shape = shape,
                        .role = options.role,
                        .initial = options.initial,
                        .file_rows = output.file_rows});
    if (options.bias)
      biases_.push_back({.name = output.bias_name,
                         .shape = {output.size},
                         .role = options.role,
                         .initial = Initial::zeros(),
                         .file_rows = output.file_rows});
  }
}

Tensor Linear::forward(Run& run, const Tensor& x) const {
  std::vector<const Weight*> weights, biases;
  for (const Weight& weight : weights_) weights.push_back(&weight);
  for (const Weight& bias : biases_) biases.push_back(&bias);
  return linear(run, x, weights, biases, layout_);
}

void Linear::visit(const WeightVisitor& visitor) {  // all weights, then all biases: each group lies side by side
  for (Weight& weight : weights_) visitor(weight);
  for (Weight& bias : biases_) visitor(bias);
}

}  // namespace limpid
