#pragma once
// One optimiser step (forward, backward, Adam) on four shapes, for comparison with other engines on the same machine.

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "text/token_store.h"

namespace limpid {

std::vector<std::string> train_step_shapes();

struct TrainStepOptions {
  std::string shape = "tiny";
  int steps = 5;        // the best is reported, after one to warm up
  bool dropout = true;  // the shape's own, or none
};

// The config.json of a shape, and the examples of one step.
nlohmann::ordered_json train_step_config(const std::string& shape, bool dropout);
std::vector<TokenExample> train_step_examples(const std::string& shape);

// seconds, tokens_per_second (target tokens), gflop (arithmetic of the matrix products, attention included, forward + 2
// × backward), gflops, fma_peak_gflops (measured on the same threads in the same run), rss_mb (peak).
nlohmann::ordered_json bench_train_step(const TrainStepOptions& options);

}  // namespace limpid
