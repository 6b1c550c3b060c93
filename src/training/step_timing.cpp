#include "training/step_timing.h"

#include <algorithm>
#include <chrono>

#include "models/model.h"
#include "text/batches.h"
#include "training/example_batch.h"

namespace limpid {

StepTiming time_steps(const Recipe& recipe, const Dataset& dataset, double seconds,
                      const std::function<bool()>& interrupted) {
  using Clock = std::chrono::steady_clock;
  const auto model = make_model(make_config(recipe, dataset));
  Parameters parameters([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); });
  parameters.initialize(recipe.seed);
  Gradients gradients(parameters);
  Optimizer optimizer(parameters, optimizer_options(recipe));
  Batches batches(*dataset.train, batches_options(recipe));
  const Arena arena;
  const int64_t parts = std::max<int64_t>(recipe.batch.accumulate, 1);
  Clock::time_point start;
  int64_t steps = -1, tokens = 0;  // the first update touches all memory for the first time and does not count
  double elapsed = 0;
  do {
    if (interrupted && interrupted()) break;
    gradients.clear();
    for (int64_t part = 0; part < parts; ++part) {
      const Batch batch = make_batch(batches.next(), model->config(),
                                     {.task = task_of(recipe), .mask_share = recipe.mask_share, .key = recipe.seed});
      if (steps >= 0)
        tokens += std::count_if(batch.labels.begin(), batch.labels.end(), [](int32_t label) { return label >= 0; });
      Tape tape(arena, &gradients);
      Run run({.arena = arena, .tape = &tape, .train = true, .seed = recipe.seed, .step = 0});
      model->loss(run, batch, {.smoothing = static_cast<real>(recipe.optimizer.label_smoothing)});
      tape.backward();
    }
    optimizer.step(parameters, gradients, 0);
    if (++steps == 0) start = Clock::now();
    elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  } while (steps < 2 || elapsed < seconds);
  const auto counted = static_cast<double>(std::max<int64_t>(steps, 1));
  return {.seconds = elapsed / counted,
          .tokens = static_cast<double>(tokens) / counted,
          .parameters = parameters.trainable_size()};
}

}  // namespace limpid
