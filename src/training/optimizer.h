#pragma once
// Optimizer: Adam and AdamW over the flat buffers of Parameters and Gradients.

#include <functional>
#include <span>
#include <vector>

#include "autograd/parameters.h"
#include "autograd/tape.h"
#include "cluster/number_range.h"
#include "kernels/adam.h"

namespace limpid {

struct OptimizerOptions {
  double beta1 = 0.9;
  double beta2 = 0.98;
  double eps = 1e-9;
  double weight_decay = 0;
  bool decay_vectors = false;  // biases and the gains of norms decay too, as PyTorch does unless told otherwise
  bool decoupled = true;       // AdamW; false: Adam, whose decay is part of the gradient
  double clip_norm = 0;        // gradients longer than this, all taken as one vector, are scaled down to it; 0: never
};

class Optimizer {
 public:
  Optimizer(const Parameters& parameters, const OptimizerOptions& options);
  // One that learns only some stretches of the parameters and has running means for no others (ZeRO: Rajbhandari et al.
  // 2020, stage 1).
  Optimizer(std::vector<NumberRange> owned, const OptimizerOptions& options);

  // One update. Returns the norm of the gradient before clipping, or 0 where nobody clips (it costs a pass).
  double step(Parameters& parameters, Gradients& gradients, double learning_rate);
  // The same with a norm that is known; `updated` hears of every stretch that has been learned.
  void step(Parameters& parameters, const Gradients& gradients, double learning_rate, double norm,
            const std::function<void(NumberRange)>& updated = {});

  bool clips() const { return options_.clip_norm > 0; }
  int64_t steps() const { return steps_; }
  const std::vector<NumberRange>& owned() const { return owned_; }

  // What a checkpoint keeps beside the steps: the running means of what is owned, one stretch after the other; of an
  // optimiser that owns everything in the layout of the trainable parameters.
  std::span<real> means() { return {m_.get(), static_cast<size_t>(size_)}; }
  std::span<real> squares() { return {v_.get(), static_cast<size_t>(size_)}; }
  void set_steps(int64_t steps) { steps_ = steps; }

 private:
  OptimizerOptions options_;
  std::vector<NumberRange> owned_;
  std::shared_ptr<real> m_, v_;  // running means of gradients and of their squares
  int64_t size_ = 0;             // numbers in each
  int64_t steps_ = 0;
};

// Writes the running statistics that a training pass has gathered into the parameters.
void apply_statistics(Parameters& parameters, Tape& tape);

}  // namespace limpid
