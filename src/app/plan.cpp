// limpid plan: what a training run will need, before it starts.

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "app/command.h"
#include "app/own_text.h"
#include "app/peak_memory.h"
#include "app/recipe_file.h"
#include "app/training_display.h"
#include "base/parallel.h"
#include "base/temporary_folder.h"
#include "models/model.h"
#include "models/parameter_table.h"
#include "training/cost_meter.h"
#include "training/trainer.h"

namespace limpid {
namespace {

using Clock = std::chrono::steady_clock;

// Listens to the first seconds of the run.
class Measurement : public TrainingObserver {
 public:
  Measurement(double seconds, bool quiet)
      : seconds_(seconds), display_(quiet ? TrainingDisplay::Detail::quiet : TrainingDisplay::Detail::normal) {}

  void preparing(const std::string& what, double done) override { display_.preparing(what, done); }
  void starting(const Dataset& dataset, const Config& config, int64_t parameters, int64_t) override {
    display_.starting(dataset, config, parameters, 0);
    const auto model = make_model(config);
    table_ = parameter_table(*model);
    learned_ = parameters;
    start_ = Clock::now();
  }
  // The first update touches all memory for the first time and counts for nothing.
  void step(const StepReport& report) override {
    if (report.step == 1) start_ = Clock::now();
    last_ = report;
    elapsed_ = std::chrono::duration<double>(Clock::now() - start_).count();
  }
  void validation(const ValidationReport&) override {}
  void note(const std::string& text) override { display_.note(text); }

  // Nor its timing.
  void timed(const UpdateTiming& timing) {
    if (updates_++ > 0) meter_.add(timing);
  }
  UpdateCosts costs(const Recipe& recipe) const {
    return meter_.costs(recipe.batch.shards, tokens_per_update(), learned_, seconds_per_step(),
                        peak_memory_mb() * (1 << 20));
  }
  int64_t tokens_per_update() const { return std::llround(last_.tokens_per_second * seconds_per_step()); }

  bool enough() const { return last_.step > 1 && elapsed_ >= seconds_; }
  double seconds_per_step() const {
    return last_.step > 1 ? elapsed_ / static_cast<double>(last_.step - 1) : last_.seconds;
  }
  const StepReport& last() const { return last_; }
  const ParameterTable& table() const { return table_; }

 private:
  double seconds_;
  TrainingDisplay display_;
  ParameterTable table_;
  StepReport last_;
  Clock::time_point start_;
  double elapsed_ = 0;
  int64_t updates_ = 0, learned_ = 0;
  CostMeter meter_;
};

struct RanksAsked {
  int ranks = 0;  // 0: nobody asks
  std::string network = "10Gbit,50us";
};

std::vector<RankPrediction> predictions(const UpdateCosts& costs, const Network& network, int ranks) {
  std::vector<RankPrediction> result;
  for (int n = 1; n <= kMostRanks; n *= 2) {
    if (n / 2 < ranks && ranks < n) result.push_back(predict(costs, network, ranks));
    result.push_back(predict(costs, network, n));
  }
  if (ranks > kMostRanks) result.push_back(predict(costs, network, ranks));
  return result;
}

nlohmann::ordered_json to_json(const std::vector<RankPrediction>& predictions) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const RankPrediction& one : predictions)
    list.push_back({{"ranks", one.ranks},
                    {"shards", one.shards},
                    {"tokens_per_update", one.tokens},
                    {"seconds_per_step", one.seconds},
                    {"compute", one.compute},
                    {"exposed", one.exposed},
                    {"hidden", one.hidden},
                    {"efficiency", one.efficiency},
                    {"memory_mb", one.memory / (1 << 20)}});
  return list;
}

std::string ranks_text(int ranks) {
  return fmt::format("{}{}", ranks == 1 ? "1 rank" : fmt::format("{} ranks", ranks),
                     ranks == kMostRanks ? " (no more are looked at)" : "");
}

nlohmann::ordered_json to_json(const UsefulRanks& ranks) {
  return {{"efficient", ranks.efficient}, {"useful", ranks.useful}};
}

void print_ranks(const UpdateCosts& costs, const Network& network, const RanksAsked& asked) {
  fmt::print(
      "\npredicted for ranks like this one, on links of {}:\n{:>6} {:>7} {:>9} {:>10} {:>10} {:>7} {:>7} {:>8}\n",
      asked.network, "ranks", "shards", "tokens", "s/step", "tokens/s", "effic.", "hidden", "MB/rank");
  for (const RankPrediction& one : predictions(costs, network, asked.ranks))
    fmt::print("{:>6} {:>7} {:>9} {:>10.4f} {:>10.0f} {:>6.0f}% {:>6.0f}% {:>8.0f}{}\n", one.ranks, one.shards,
               one.tokens, one.seconds, static_cast<double>(one.tokens) / one.seconds, 100 * one.efficiency,
               100 * one.hidden, one.memory / (1 << 20), one.ranks == asked.ranks ? "  <" : "");
  const UsefulRanks same = useful_ranks_same_batch(costs, network),
                    growing = useful_ranks_growing_batch(costs, network);
  fmt::print(
      "The same batch of {} tokens, cut into as many shards as there are ranks: an efficiency of 50 % or more up to "
      "{}; more than {} do not make an update shorter.\n"
      "A batch that grows with the ranks, {} tokens for each: 50 % or more up to {}; more than {} do not learn from "
      "more tokens per second.\n",
      costs.tokens, ranks_text(same.efficient), ranks_text(same.useful), costs.tokens / costs.shards,
      ranks_text(growing.efficient), ranks_text(growing.useful));
  if (asked.ranks > costs.shards)
    fmt::print(
        "{} ranks need batch.shards={}. In the table a shard stays as large as it is now, so that a batch has {} "
        "tokens "
        "instead of {}: batch.tokens has to grow as much, and schedule.learning_rate may want another value.\n",
        asked.ranks, asked.ranks, costs.tokens * asked.ranks / costs.shards, costs.tokens);
}

// What cutting a batch does to it.
void print_batch(const Recipe& recipe, int64_t tokens) {
  const int64_t shards = recipe.batch.shards;
  fmt::print("update      {} tokens to be predicted\n", tokens);
  if (shards > 1)
    fmt::print(
        "shards      {}, of about {} tokens each; as many in each as there are now in all take batch.tokens={}, which "
        "is another run\n",
        shards, tokens / shards, recipe.batch.tokens * shards);
}

// The run goes on with the text as it was prepared for the choice.
ChosenRecipe choose(const OwnText& text, const RunFolder& run, bool quiet) {
  TrainingDisplay display(quiet ? TrainingDisplay::Detail::quiet : TrainingDisplay::Detail::normal);
  return choose_anew(text, run.path(), display);
}

}  // namespace

int run_plan(int argc, char** argv) {
  CommandLine line(
      "plan",
      "Says what a training run will need before it starts: parameters by part, memory, speed from a short "
      "measurement, time to finish.",
      "limpid data copy --out copy\n         limpid plan copy\n"
      "         limpid plan --pairs train.en train.fr --minutes 30");
  std::string recipe_name;
  std::vector<std::string> overrides;
  double seconds = 5;
  bool json = false;
  line.add_option("RECIPE", recipe_name, "a recipe's file, or a name (limpid recipes lists them)");
  line.add_option("KEY=VALUE", overrides, "keys of the recipe to override");
  line.add_option("--seconds", seconds, "to measure the speed")->check(CLI::Range(0.1, 600.0))->capture_default_str();
  line.add_flag("--json", json, "print JSON, one object per line");
  RanksAsked asked;
  line.add_option("--ranks", asked.ranks, "also say how the run would do on so many ranks of mpirun, and on others")
      ->check(CLI::Range(1, 1 << 16));
  line.add_option("--network", asked.network, "between them: speed of a link and latency")->capture_default_str();
  OwnTextOptions own;
  own.add_to(line);
  if (const auto code = line.read(argc, argv)) return *code;
  if (recipe_name.empty() && !own.given()) {
    fmt::print(stderr, "limpid plan: name a recipe, or give text of your own: --pairs, --text or --labels\n");
    return 2;
  }

  const Network network = parse_network(asked.network);
  const TemporaryFolder folder;
  RunFolder run(folder.path() / "run");
  Recipe recipe;
  nlohmann::ordered_json chosen;
  if (own.given()) {
    const ChosenRecipe choice = choose(own.text(recipe_name, overrides), run, json);
    recipe = choice.recipe;
    if (!json) fmt::print("{}\n", describe(choice.decisions));
    for (const Decision& decision : choice.decisions)
      chosen.push_back({{"what", decision.what}, {"choice", decision.choice}, {"why", decision.why}});
  } else {
    recipe = open_recipe(recipe_name, overrides);
  }
  recipe.validation.steps = recipe.checkpoint.steps = int64_t{1} << 40;  // only the training itself is measured
  Measurement measurement(seconds, json);
  TrainingOptions options{.command = "", .interrupted = [&] { return measurement.enough(); }};
  if (asked.ranks > 0) options.timed = [&](const UpdateTiming& timing) { measurement.timed(timing); };
  train(recipe, run, measurement, options);

  const StepReport& last = measurement.last();
  const double per_step = measurement.seconds_per_step(), total = per_step * static_cast<double>(last.steps);
  if (json) {
    nlohmann::ordered_json result = {{"parameters", to_json(measurement.table())},
                                     {"peak_memory_mb", peak_memory_mb()},
                                     {"threads", threads()},
                                     {"seconds_per_step", per_step},
                                     {"tokens_per_second", last.tokens_per_second},
                                     {"tokens_per_update", measurement.tokens_per_update()},
                                     {"shards", recipe.batch.shards}};
    if (!chosen.is_null()) result["chosen"] = chosen, result["recipe"] = dump_recipe(recipe);
    if (asked.ranks > 0) {
      const UpdateCosts costs = measurement.costs(recipe);
      result["network"] = asked.network;
      result["predicted"] = to_json(predictions(costs, network, asked.ranks));
      result["same_batch"] = to_json(useful_ranks_same_batch(costs, network));
      result["growing_batch"] = to_json(useful_ranks_growing_batch(costs, network));
    }
    if (last.steps > 0) result["steps"] = last.steps, result["seconds"] = total;
    fmt::print("{}\n", result.dump());
    return 0;
  }
  fmt::print("\n{}\nmemory      {:.0f} MB\nspeed       {:.0f} tokens/s with {} threads ({:.3f} s per step)\n",
             to_text(measurement.table()), peak_memory_mb(), last.tokens_per_second, threads(), per_step);
  print_batch(recipe, measurement.tokens_per_update());
  if (last.steps > 0)
    fmt::print("time        {} for {} steps, without validations\n", clock_text(total), last.steps);
  else
    fmt::print("time        until {}\n", recipe.stop.minutes > 0
                                             ? fmt::format("{} minutes are over", recipe.stop.minutes)
                                             : "the score stops getting better");
  if (asked.ranks > 0) print_ranks(measurement.costs(recipe), network, asked);
  return 0;
}

}  // namespace limpid
