#include "app/data_parallel_bench.h"

#include <algorithm>

#include "app/measuring.h"
#include "app/peak_memory.h"
#include "app/train_step_bench.h"
#include "base/parallel.h"
#include "training/cost_meter.h"
#include "training/update.h"

namespace limpid {
namespace {

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

}  // namespace

nlohmann::ordered_json bench_data_parallel(const DataParallelBench& options) {
  Courier ranks(join_mpirun(options.ranks));
  Recipe recipe;
  recipe.model = train_step_config(options.shape, true);
  recipe.batch.shards = options.shards > 0 ? options.shards : ranks.size();
  const auto model = make_model(parse_config(recipe.model));
  Parameters parameters([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); });
  parameters.initialize(1);
  Updater updater(recipe, *model, parameters, ranks);
  updater.measure();
  std::vector<TokenExample> examples;
  for (int64_t i = 0; i < options.batches; ++i)
    for (TokenExample& example : train_step_examples(options.shape)) examples.push_back(std::move(example));

  CostMeter meter;
  std::vector<double> seconds, last_shard, compute, waited, under_way, learned, gathered;
  Update last;
  for (int step = 0; step <= options.steps; ++step) {
    ranks.gather("");  // all begin at once
    const double begun = seconds_now();
    last = updater.run({examples}, step, 1e-4);
    ranks.gather("");
    if (step == 0) continue;
    const UpdateTiming& timing = updater.timing();
    seconds.push_back(seconds_now() - begun);
    meter.add(timing);
    compute.push_back(timing.compute);
    last_shard.push_back(timing.last_shard);
    waited.push_back(timing.waited);
    under_way.push_back(timing.under_way);
    learned.push_back(timing.learned);
    gathered.push_back(timing.gathered);
  }
  double memory = 0;
  for (const std::string& one : ranks.gather(fmt::format("{}", peak_memory_mb())))
    memory = std::max(memory, std::stod(one));
  if (!ranks.first()) return {};
  const double tokens = static_cast<double>(last.tokens);
  nlohmann::ordered_json result = {{"bench", "data-parallel"},
                                   {"shape", options.shape},
                                   {"ranks", ranks.size()},
                                   {"threads", threads()},
                                   {"shards", recipe.batch.shards},
                                   {"tokens", last.tokens},
                                   {"seconds", rounded(median(seconds), 1e4)},
                                   {"tokens_per_second", std::round(tokens / median(seconds))},
                                   {"compute", rounded(median(compute), 1e4)},
                                   {"last_shard", rounded(median(last_shard), 1e4)},
                                   {"waited", rounded(median(waited), 1e4)},
                                   {"under_way", rounded(median(under_way), 1e4)},
                                   {"learned", rounded(median(learned), 1e4)},
                                   {"gathered", rounded(median(gathered), 1e4)},
                                   {"rss_mb", std::round(memory)}};
  if (ranks.size() > 1)
    result["hidden"] = rounded(std::clamp(1 - median(waited) / std::max(median(under_way), 1e-9), 0.0, 1.0), 100);
  if (ranks.size() == 1 && !options.network.empty()) {
    const UpdateCosts costs =
        meter.costs(recipe.batch.shards, last.tokens, parameters.trainable_size(), median(seconds), memory * (1 << 20));
    for (int n = 1; n <= 1024; n *= 2) {
      const RankPrediction one = predict(costs, parse_network(options.network), n);
      result["predicted"][std::to_string(n)] = {{"seconds", rounded(one.seconds, 1e4)},
                                                {"tokens", one.tokens},
                                                {"hidden", rounded(one.hidden, 100)},
                                                {"efficiency", rounded(one.efficiency, 1000)},
                                                {"memory_mb", std::round(one.memory / (1 << 20))}};
    }
  }
  return result;
}

}  // namespace limpid
