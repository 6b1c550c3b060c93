#pragma once
// Linear: y = x·Wᵀ + b. One layer can hold several projections of the same input (query, key and value; gate and up):
// their outputs stand side by side, and where their weights lie side by side in memory one product computes all.

#include "autograd/ops.h"

namespace limpid {

struct LinearOptions {
  ParameterRole role = ParameterRole::output;
  bool bias = true;
  WeightLayout layout = WeightLayout::out_in;
  Initial initial;
};

class Linear {
 public:
  struct Output {
    std::string name;  // of the parameters: name.weight, name.bias
    int64_t size;
    std::string weight_name = name + ".weight", bias_name = name + ".bias";
    std::shared_ptr<const std::vector<int32_t>> file_rows = nullptr;  // as Weight has it
  };

  Linear() = default;
  Linear(int64_t inputs, const std::vector<Output>& outputs, const LinearOptions& options);

  Tensor forward(Run& run, const Tensor& x) const;
  void visit(const WeightVisitor& visitor);

  const Weight& weight(size_t i = 0) const { return weights_[i]; }
  const Weight& bias(size_t i = 0) const { return biases_[i]; }

 private:
  std::vector<Weight> weights_, biases_;
  WeightLayout layout_ = WeightLayout::out_in;
};

}  // namespace limpid
