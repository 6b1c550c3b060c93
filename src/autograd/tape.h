#pragma once
// Tape: what a forward pass has to remember in order to go back. Operations record how to turn the gradient of their
// result into gradients of their inputs and weights; backward plays the records from the last to the first and lets
// each go, so that memory is freed as soon as it has served.

#include <functional>
#include <vector>

#include "autograd/parameters.h"
#include "tensor/tensor.h"

namespace limpid {

// Where a backward kernel writes, and whether it adds to what stands there.
struct GradientTarget {
  Matrix view;
  bool accumulate = false;
};

// New values of a weight that is not learned but follows the data, such as batch norm's running mean.
struct StatisticsUpdate {
  const Weight* weight;
  std::vector<real> values;
};

class Tape {
 public:
  // Without gradients only those of values are computed, none of weights.
  explicit Tape(Arena arena, Gradients* gradients = nullptr) : arena_(std::move(arena)), gradients_(gradients) {}

  void record(std::function<void(Tape&)> backward) { records_.push_back(std::move(backward)); }

  // Backward says which weight's gradient is complete as soon as no record is left that adds to it. Set before the
  // forward pass; weights that it does not use are never named.
  void when_complete(std::function<void(const Weight&)> listener) { complete_ = std::move(listener); }
  // The record that comes next, or one behind it, adds to the weight's gradient. Run::records says so for operations.
  void note_use(const Weight& weight);

  // Adds to the gradient of a value before backward starts: the derivative of the quantity of interest by that value.
  void seed(const Tensor& value, ConstMatrix gradient);
  void backward();

  // For operations. The gradient that reached a value, or no rows where none did (then there is nothing to pass on):
  ConstMatrix grad(const Tensor& value) const;
  // Where to write the gradient of an input:
  GradientTarget grad_out(const Tensor& input);
  // The same for kernels that can work in place: takes the buffer of the result's gradient over where nobody needs it
  // more.
  GradientTarget grad_out_in_place(const Tensor& result, const Tensor& input);
  // The same for kernels that always add:
  Matrix grad_out_to_add(const Tensor& input);
  // result = input + …: passes the whole gradient on, without copying where that is safe.
  void share_grad(const Tensor& result, const Tensor& input);
  // Whether a weight wants a gradient, and where it goes; see Gradients.
  bool wants(const Weight& weight) const { return gradients_ && !gradients_->frozen(weight); }
  Gradients& gradients() { return *gradients_; }
  const Arena& arena() const { return arena_; }

  // Gathered in the forward pass; whoever owns the parameters writes them in after the step.
  std::vector<StatisticsUpdate>& statistics() { return statistics_; }

 private:
  void make_own(Gradient& gradient) const;

  Arena arena_;
  Gradients* gradients_;
  std::vector<std::function<void(Tape&)>> records_;
  std::function<void(const Weight&)> complete_;
  struct FirstUse {
    size_t record;  // the first that adds to the weight's gradient, and so the last to be played
    const Weight* weight;
  };
  std::vector<FirstUse> uses_;  // in the order of the records
  std::vector<char> used_;      // by weight index
  std::vector<StatisticsUpdate> statistics_;
};

}  // namespace limpid
