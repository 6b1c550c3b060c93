// limpid bench: speed and memory, one JSON line a measurement.

#include <fmt/format.h>

#include "app/command.h"
#include "app/train_step_bench.h"

namespace limpid {

int run_bench(int argc, char** argv) {
  CommandLine line("bench", "Measures this machine and this build; prints one JSON line.",
                   "limpid bench train-step --shape tiny");
  line.require_subcommand(1);
  auto* train_step = line.add_subcommand("train-step", "one optimiser step: forward, backward, Adam");
  TrainStepOptions options;
  bool no_dropout = false;
  train_step->add_option("--shape", options.shape, "tiny, base (encoder-decoders), char, gpt2 (language models)")
      ->check(CLI::IsMember(train_step_shapes()))
      ->capture_default_str();
  train_step->add_option("--steps", options.steps, "steps to take the best of")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  train_step->add_flag("--no-dropout", no_dropout, "without dropout");
  line.fallthrough();
  train_step->fallthrough();
  if (const auto code = line.read(argc, argv)) return *code;
  options.dropout = !no_dropout;
  fmt::print("{}\n", bench_train_step(options).dump());
  return 0;
}

}  // namespace limpid
