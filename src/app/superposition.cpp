// limpid superposition: trains the toy model of superposition and draws its geometry.

#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "app/look.h"
#include "app/progress.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "inspect/superposition_picture.h"

namespace limpid {
namespace {

constexpr int64_t kManyFeatures = 20;  // from here on all are equally important unless the user says otherwise

struct SuperpositionCommand {
  SuperpositionOptions toy;
  std::optional<double> importance;
  std::optional<int64_t> starts;
  int64_t models = 10;
  double sparsest = 0.05;
  LookOptions look;
  bool quiet = false;
};

std::string table(const std::vector<SuperpositionModel>& models) {
  const bool flat = models[0].dimensions == 2;
  std::string text = flat ? " 1−S    loss     represented  angles between neighbours\n"
                          : " 1−S    loss     represented  m/|W|²   features with D within 0.05 of 1, of 1/2\n";
  for (const SuperpositionModel& model : models) {
    const auto represented = represented_features(model).size();
    text += fmt::format(" {:<6.3g} {:<9.3g} {:4} of {:<4} ", model.density, model.loss, represented, model.features);
    if (flat) {
      for (double angle : neighbour_angles(model)) text += fmt::format(" {:5.1f}°", angle);
    } else {
      const std::vector<double> shares = feature_dimensionality(model);
      text += fmt::format("{:7.3f}  {:5} {:5}", dimensions_per_feature(model), features_near(shares, 1, 0.05),
                          features_near(shares, 0.5, 0.05));
    }
    text += "\n";
  }
  return text;
}

std::vector<SuperpositionModel> train_with_progress(const SuperpositionCommand& command) {
  const int64_t total = superposition_steps(command.toy);
  Progress progress(total, command.quiet || command.look.json);
  std::mutex mutex;
  const InterruptGuard guard;
  return train_superposition(command.toy, [&](int64_t done) {
    constexpr int64_t kEvery = 50;  // steps
    if (done % kEvery == 0 || done == total) {
      const std::scoped_lock lock(mutex);
      progress.update(done, fmt::format("{} models", command.toy.densities.size()));
    }
    return !interrupted();
  });
}

void add_options(CommandLine& line, SuperpositionCommand& command) {
  SuperpositionOptions& toy = command.toy;
  line.add_option("--features", toy.features, "n")->check(CLI::Range(1, 5000))->capture_default_str();
  line.add_option("--dimensions", toy.dimensions, "m; with 2 the geometry is drawn, else the share of a dimension")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  line.add_option("--density", toy.densities, "1−S of each model (default: evenly from 1 to --sparsest, logarithmic)");
  line.add_option("--models", command.models, "how many densities")->check(CLI::Range(1, 1000))->capture_default_str();
  line.add_option("--sparsest", command.sparsest, "the least density")->capture_default_str();
  line.add_option(
      "--importance", command.importance,
      fmt::format("of feature i: this to the power of i (default 0.9; from {} features on 1)", kManyFeatures));
  line.add_option("--steps", toy.steps, "of training")->check(CLI::PositiveNumber)->capture_default_str();
  line.add_option("--batch-size", toy.batch, "samples per step")->check(CLI::PositiveNumber)->capture_default_str();
  line.add_option("--learning-rate", toy.learning_rate, "at the start; falls to zero")->capture_default_str();
  line.add_option(
          "--starts", command.starts,
          fmt::format("train each model so often and keep the best (default 4; from {} features on 1)", kManyFeatures))
      ->check(CLI::PositiveNumber);
  line.add_option("--seed", toy.seed, "of all random numbers")->capture_default_str();
  line.add_flag("--quiet", command.quiet, "no progress");
  add_result_options(line, command.look, true);
}

std::string csv_of(const std::vector<SuperpositionModel>& models) {
  std::string csv = "density,feature,length,bias,dimensionality\n";
  for (const SuperpositionModel& model : models) {
    const std::vector<double> shares = feature_dimensionality(model);
    for (int64_t i = 0; i < model.features; ++i)
      csv += fmt::format("{},{},{},{},{}\n", model.density, i, model.length(i), model.bias[i], shares[i]);
  }
  return csv;
}

}  // namespace

int run_superposition(int argc, char** argv) {
  CommandLine line("superposition",
                   "Trains the toy model of superposition, x' = ReLU(WᵀWx + b), at several sparsities and draws how it "
                   "packs n features into m dimensions.",
                   "limpid superposition --svg pentagon.svg\n"
                   "         limpid superposition --features 400 --dimensions 30 --models 12 --sparsest 0.2 --steps "
                   "1000 --learning-rate 0.01");
  SuperpositionCommand command;
  command.toy.steps = 2000;
  add_options(line, command);
  if (const auto code = line.read(argc, argv)) return *code;
  SuperpositionOptions& toy = command.toy;
  const bool many = toy.features >= kManyFeatures;
  toy.importance = command.importance.value_or(many ? 1.0 : 0.9);
  toy.starts = command.starts.value_or(many ? 1 : 4);
  check(command.sparsest > 0 && command.sparsest <= 1, "[superposition] --sparsest lies in (0, 1]");
  if (toy.densities.empty()) toy.densities = log_densities(command.models, command.sparsest);
  const std::vector<SuperpositionModel> models = train_with_progress(command);
  const TerminalStyle style = terminal_style(command.look);
  const bool flat = toy.dimensions == 2;
  write_result(command.look, {.shown =
                                  [&] {
                                    return (flat ? geometry_terminal(models, style)
                                                 : to_terminal(dimensionality_chart(models), style) + "\n") +
                                           table(models);
                                  },
                              .csv = [&] { return csv_of(models); },
                              .svg = [&] { return flat ? geometry_svg(models) : to_svg(dimensionality_chart(models)); },
                              .json = [&] { return superposition_json(toy, models); }});
  return 0;
}

}  // namespace limpid
