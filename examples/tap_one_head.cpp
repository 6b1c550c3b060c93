// Looks at one attention head of a small language model with random weights, from inside the forward pass.

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "limpid.h"

using namespace limpid;

int main() {
  const auto model = make_model(parse_config({{"model_type", "gpt2"},
                                              {"vocab_size", 50},
                                              {"n_embd", 32},
                                              {"n_layer", 2},
                                              {"n_head", 4},
                                              {"n_positions", 16},
                                              {"initializer_range", 0.5}}));  // large, so that patterns are not even
  Parameters parameters([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); });
  parameters.initialize(/*seed=*/1);

  // Two texts of different lengths in one batch. The last token of each is only predicted, not read.
  const Batch batch = Batch::next_tokens({{7, 3, 7, 9, 3, 7, 11}, {5, 6, 5}});
  constexpr int64_t kText = 0, kHead = 2;
  bool seen = false, sums_to_one = true;

  FunctionProbe probe;
  probe.on("blocks.1.attn.pattern", [&](const Tap& tap) {
    seen = true;
    const ConstMatrix pattern = tap.pairs(kText, kHead);  // (queries, keys)
    fmt::print("{}, text {}, head {} of {}: each token (row) looks at itself and those before it\n\n        ", tap.name,
               kText, kHead, tap.layout.heads);
    for (int64_t key = 0; key < pattern.cols; ++key) fmt::print("{:>6}", batch.input.ids[key]);
    fmt::print("     sum\n");
    for (int64_t query = 0; query < pattern.rows; ++query) {
      const real* row = pattern.row(query);
      const double sum = std::accumulate(row, row + pattern.cols, 0.0);
      sums_to_one = sums_to_one && std::abs(sum - 1) < 1e-5;
      fmt::print("{:>8}", batch.input.ids[query]);
      for (int64_t key = 0; key < pattern.cols; ++key) {
        if (key <= query) fmt::print("{:6.2f}", row[key]);
        if (key > query) fmt::print("{:>6}", row[key] == 0 ? "." : "?");
      }
      fmt::print("{:8.4f}\n", sum);
    }
  });

  Run run({.probe = &probe});
  model->logits(run, batch);
  if (!seen || !sums_to_one) fmt::print("\nThis is no soft-max.\n");
  return seen && sums_to_one ? 0 : 1;
}
