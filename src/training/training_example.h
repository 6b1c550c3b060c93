#pragma once
// A small model in training, for tests of what is saved and resumed.

#include <string>
#include <vector>

#include "models/small_models.h"
#include "training/checkpoint.h"

namespace limpid {

struct TrainingExample {
  explicit TrainingExample(const std::string& config, uint64_t seed = 1)
      : small(small_model(small_configs().at(config), seed)),
        gradients(*small.parameters),
        optimizer(*small.parameters, {.weight_decay = 0.01, .clip_norm = 1}),
        average(make_flat_buffer(parameters().size())) {}

  Parameters& parameters() { return *small.parameters; }

  // One update with the moving average behind it. What is drawn at random depends on the optimiser's steps alone.
  void step() {
    Arena arena;
    Tape tape(arena, &gradients);
    gradients.clear();
    limpid::Run run(
        {.arena = arena, .tape = &tape, .train = true, .seed = 7, .step = static_cast<uint64_t>(optimizer.steps())});
    small.model->loss(run, small.batch, {});
    tape.backward();
    apply_statistics(parameters(), tape);
    optimizer.step(parameters(), gradients, 0.01);
    for (int64_t i = 0; i < parameters().size(); ++i)
      average.get()[i] += static_cast<real>(0.1) * (parameters().data()[i] - average.get()[i]);
  }

  TrainingState state() {
    return {.config = &small.model->config(),
            .parameters = small.parameters.get(),
            .optimizer = &optimizer,
            .average = {average.get(), static_cast<size_t>(parameters().size())},
            .progress = {{"step", optimizer.steps()}}};
  }

  // Every number of the state, as bytes: NaN equals NaN, 0 differs from -0.
  std::string bits() {
    std::string all;
    const auto add = [&](const real* numbers, int64_t count) {
      all.append(reinterpret_cast<const char*>(numbers), static_cast<size_t>(count) * sizeof(real));
    };
    for (const Weight& weight : parameters().weights()) {
      add(parameters().data(weight), weight.size());
      add(average.get() + weight.offset, weight.size());
      if (!weight.trainable) continue;
      add(optimizer.means().data() + weight.offset, weight.size());
      add(optimizer.squares().data() + weight.offset, weight.size());
    }
    return all;
  }

  SmallModel small;
  Gradients gradients;
  Optimizer optimizer;
  std::shared_ptr<real> average;
};

}  // namespace limpid
