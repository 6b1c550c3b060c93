#include "inspect/superposition.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "autograd/ops.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"
#include "training/optimizer.h"

namespace limpid {
namespace {

struct ToyWeights {
  Weight w, b;

  ToyWeights(int64_t features, int64_t dimensions)
      : w{.name = "W",
          .shape = {dimensions, features},
          .initial = Initial::normal(std::sqrt(2.0 / static_cast<double>(features + dimensions)))},
        b{.name = "b", .shape = {features}} {}
  void visit(const WeightVisitor& visitor) {
    visitor(w);
    visitor(b);
  }
};

// One draw per number: given that it is below the density, the rest of it is uniform again.
void draw_features(double density, uint64_t key, Matrix x) {
  Random random(key);
  for (int64_t i = 0; i < x.size(); ++i) {
    const double u = random.uniform();
    x.data[i] = u < density ? static_cast<real>(u / density) : 0;
  }
}

// Σ_i importance_i·(x_i - y_i)², mean over the batch, and its derivative by y, which overwrites x.
double loss_of(const std::vector<real>& importance, ConstMatrix y, Matrix x) {
  const real factor = static_cast<real>(2) / static_cast<real>(x.rows);
  double sum = 0;
  for (int64_t r = 0; r < x.rows; ++r) {
    real row = 0;
    for (int64_t i = 0; i < x.cols; ++i) {
      const real error = y(r, i) - x(r, i);
      row += importance[i] * error * error;
      x(r, i) = factor * importance[i] * error;
    }
    sum += static_cast<double>(row);
  }
  return sum / static_cast<double>(x.rows);
}

void check_options(const SuperpositionOptions& options) {
  check(options.features > 0 && options.dimensions > 0 && options.steps > 0 && options.batch > 0 && options.starts > 0,
        "[superposition] features, dimensions, steps, batch and starts are at least one");
  for (double density : options.densities)
    check(density > 0 && density <= 1, "[superposition] a density is a share in (0, 1], not {}", density);
  check(options.importance > 0 && options.importance <= 1, "[superposition] importance lies in (0, 1], not {}",
        options.importance);
}

}  // namespace

double SuperpositionModel::dot(int64_t i, int64_t j) const {
  double sum = 0;
  for (int64_t d = 0; d < dimensions; ++d) sum += weight_at(d, i) * weight_at(d, j);
  return sum;
}

double SuperpositionModel::length(int64_t i) const { return std::sqrt(dot(i, i)); }

SuperpositionModel train_one_superposition(const SuperpositionOptions& options, double density, uint64_t seed,
                                           std::vector<double>* losses, const std::function<void()>& stepped) {
  check_options(options);
  ToyWeights toy(options.features, options.dimensions);
  Parameters parameters([&](const WeightVisitor& visitor) { toy.visit(visitor); });
  parameters.initialize(seed);
  Gradients gradients(parameters);
  Optimizer optimizer(parameters, {.beta2 = 0.999, .eps = 1e-8});
  const Weight* w = &toy.w;
  const Weight* b = &toy.b;
  std::vector<real> importance(options.features);
  for (int64_t i = 0; i < options.features; ++i)
    importance[i] = static_cast<real>(std::pow(options.importance, static_cast<double>(i)));
  const Arena arena;
  double last = 0;
  const int64_t last_steps = std::max<int64_t>(options.steps / 10, 1);
  for (int64_t step = 0; step < options.steps; ++step) {
    gradients.clear();
    Tape tape(arena, &gradients);
    Run run({.arena = arena, .tape = &tape});
    Tensor x(arena, options.batch, options.features);
    draw_features(density, random_key(seed, static_cast<uint64_t>(step), 1), x.values());
    Tensor read;
    {
      const Tensor hidden = linear(run, x, {&w, 1}, {});                   // W·x, (B, m)
      read = linear(run, hidden, {&w, 1}, {&b, 1}, WeightLayout::in_out);  // Wᵀ·h + b, (B, n)
      read = activation(run, std::move(read), Activation::relu);
    }
    Tensor error = constant(run, x.values());  // x itself is still needed on the way back
    const double loss = loss_of(importance, read.values(), error.values());
    if (losses) losses->push_back(loss);
    if (step >= options.steps - last_steps) last += loss;
    tape.seed(read, error.values());
    tape.backward();
    const double rate =
        0.5 * (1 + std::cos(std::numbers::pi * static_cast<double>(step) / static_cast<double>(options.steps)));
    optimizer.step(parameters, gradients, options.learning_rate * rate);
    if (stepped) stepped();
  }
  SuperpositionModel model{.density = density, .features = options.features, .dimensions = options.dimensions};
  model.weight.assign(parameters.data(toy.w), parameters.data(toy.w) + toy.w.size());
  model.bias.assign(parameters.data(toy.b), parameters.data(toy.b) + toy.b.size());
  model.loss = last / static_cast<double>(last_steps);
  return model;
}

int64_t superposition_steps(const SuperpositionOptions& options) {
  return static_cast<int64_t>(options.densities.size()) * options.starts * options.steps;
}

std::vector<SuperpositionModel> train_superposition(const SuperpositionOptions& options,
                                                    const std::function<bool(int64_t)>& progress) {
  check_options(options);
  const auto models = static_cast<int64_t>(options.densities.size());
  std::vector<SuperpositionModel> trained(models * options.starts);
  std::atomic<int64_t> done = 0;
  std::atomic<bool> stopped = false;
  // One thread per model: the products of one are too small to share.
  parallel_for(models * options.starts, [&](int64_t i) {
    const auto stepped = [&] {
      ++done;
      if (stopped || (progress && !progress(done))) {
        stopped = true;
        fail("[superposition] interrupted: nothing was written");
      }
    };
    const auto start = static_cast<uint64_t>(i % options.starts);
    trained[i] = train_one_superposition(options, options.densities[i / options.starts],
                                         random_key(options.seed, static_cast<uint64_t>(i / options.starts), start),
                                         nullptr, stepped);
  });
  std::vector<SuperpositionModel> best;
  for (int64_t model = 0; model < models; ++model)
    best.push_back(*std::min_element(trained.begin() + model * options.starts,
                                     trained.begin() + (model + 1) * options.starts,
                                     [](const auto& a, const auto& b) { return a.loss < b.loss; }));
  return best;
}

std::vector<double> log_densities(int64_t count, double sparsest) {
  std::vector<double> densities;
  for (int64_t i = 0; i < count; ++i)
    densities.push_back(count == 1 ? sparsest
                                   : std::pow(sparsest, static_cast<double>(i) / static_cast<double>(count - 1)));
  return densities;
}

std::vector<int64_t> represented_features(const SuperpositionModel& model) {
  std::vector<int64_t> found;
  for (int64_t i = 0; i < model.features; ++i)
    if (model.length(i) > kRepresentedLength) found.push_back(i);
  return found;
}

std::vector<double> neighbour_angles(const SuperpositionModel& model) {
  check(model.dimensions == 2, "[superposition] angles around a circle need two dimensions, there are {}",
        model.dimensions);
  std::vector<double> at;
  for (int64_t i : represented_features(model))
    at.push_back(std::atan2(model.weight_at(1, i), model.weight_at(0, i)) * 180 / std::numbers::pi);
  std::sort(at.begin(), at.end());
  std::vector<double> angles;
  for (size_t i = 0; i < at.size(); ++i) angles.push_back(i + 1 < at.size() ? at[i + 1] - at[i] : at[0] + 360 - at[i]);
  return angles;
}

std::vector<double> feature_dimensionality(const SuperpositionModel& model) {
  std::vector<double> shares;
  for (int64_t i = 0; i < model.features; ++i) {
    const double square = model.dot(i, i);
    double sum = 0;  // |W_i|²·Σ_j (Ŵ_i·W_j)²
    for (int64_t j = 0; j < model.features; ++j) sum += model.dot(i, j) * model.dot(i, j);
    shares.push_back(square < 1e-12 ? 0 : square * square / sum);
  }
  return shares;
}

double dimensions_per_feature(const SuperpositionModel& model) {
  double square = 0;
  for (real w : model.weight) square += static_cast<double>(w) * static_cast<double>(w);
  return static_cast<double>(model.dimensions) / square;
}

std::string superposition_shape(const SuperpositionModel& model) {
  if (model.dimensions != 2) return "";
  const std::vector<double> angles = neighbour_angles(model);
  constexpr double kSlack = 10;  // degrees
  const auto near = [&](const std::vector<double>& wanted) {
    if (wanted.size() != angles.size()) return false;
    for (size_t turn = 0; turn < angles.size(); ++turn) {
      bool all = true;
      for (size_t i = 0; i < angles.size(); ++i)
        all = all && std::abs(angles[(i + turn) % angles.size()] - wanted[i]) < kSlack;
      if (all) return true;
    }
    return false;
  };
  if (near({90, 270})) return "orthogonal pair";
  if (near({180, 180})) return "antipodal pair";
  if (near({120, 120, 120})) return "triangle";
  if (near({90, 90, 180})) return "antipodal pair and one across";
  if (near({90, 90, 90, 90})) return "two antipodal pairs";
  if (near({72, 72, 72, 72, 72})) return "pentagon";
  if (near({60, 60, 60, 60, 60, 60})) return "hexagon";
  return "";
}

namespace {

nlohmann::ordered_json superposition_model_json(const SuperpositionModel& model) {
  nlohmann::ordered_json json = {{"density", model.density},
                                 {"loss", model.loss},
                                 {"represented", represented_features(model).size()},
                                 {"dimensions_per_feature", dimensions_per_feature(model)},
                                 {"dimensionality", feature_dimensionality(model)}};
  if (model.dimensions == 2) {
    json["shape"] = superposition_shape(model);
    json["angles"] = neighbour_angles(model);
  }
  json["weight"] = model.weight;
  json["bias"] = model.bias;
  return json;
}

}  // namespace

nlohmann::ordered_json superposition_json(const SuperpositionOptions& options,
                                          const std::vector<SuperpositionModel>& models) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const SuperpositionModel& model : models) list.push_back(superposition_model_json(model));
  return {{"features", options.features},
          {"dimensions", options.dimensions},
          {"importance", options.importance},
          {"steps", options.steps},
          {"starts", options.starts},
          {"seed", options.seed},
          {"models", list}};
}

}  // namespace limpid
