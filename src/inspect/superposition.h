#pragma once
// Superposition: the toy model of Elhage et al. 2022 ("Toy Models of Superposition"). n features are pressed into m < n
// dimensions and read back, x' = ReLU(WᵀWx + b); feature i is 0 with probability S and else uniform in [0, 1). Dense
// features get a dimension each and the rest are dropped; sparse ones share dimensions, arranged as regular shapes.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tensor/matrix.h"

namespace limpid {

struct SuperpositionOptions {
  int64_t features = 5, dimensions = 2;
  std::vector<double> densities;  // 1 - S, one per model
  double importance = 0.9;        // of feature i: importanceⁱ; the loss is Σ_i importanceⁱ·(x_i - x'_i)²
  int64_t steps = 5000, batch = 1024;
  double learning_rate = 5e-3;  // falls to zero along a half cosine
  int64_t starts = 1;           // each model is trained from so many, and the one with the lowest loss is kept
  uint64_t seed = 1;
};

struct SuperpositionModel {
  double density = 1;
  int64_t features = 0, dimensions = 0;
  std::vector<real> weight;  // (dimensions, features): a feature's direction is a column
  std::vector<real> bias;    // (features)
  double loss = 0;           // a sample, mean of the last tenth of the steps

  double weight_at(int64_t dimension, int64_t feature) const {
    return static_cast<double>(weight[dimension * features + feature]);
  }
  double dot(int64_t i, int64_t j) const;  // W_i·W_j
  double length(int64_t i) const;
};

// Calls progress with the steps done of all models together; ends early, with an Error, where it returns false.
std::vector<SuperpositionModel> train_superposition(const SuperpositionOptions& options,
                                                    const std::function<bool(int64_t done)>& progress = {});
int64_t superposition_steps(const SuperpositionOptions& options);  // of all models together

// One start of one model: the loss after every step goes to `losses` where it is not null.
SuperpositionModel train_one_superposition(const SuperpositionOptions& options, double density, uint64_t seed,
                                           std::vector<double>* losses = nullptr,
                                           const std::function<void()>& stepped = {});

// Densities evenly spaced in their logarithm from 1 down to `sparsest`.
std::vector<double> log_densities(int64_t count, double sparsest);

inline constexpr double kRepresentedLength = 0.5;  // a feature with a longer direction counts as represented
std::vector<int64_t> represented_features(const SuperpositionModel& model);

// Of the represented features of a model with two dimensions: the angles between neighbours, in degrees, around the
// circle.
std::vector<double> neighbour_angles(const SuperpositionModel& model);

// What share of a dimension each feature has: D_i = |W_i|²/Σ_j (Ŵ_i·W_j)²; 0 where W_i is nought.
std::vector<double> feature_dimensionality(const SuperpositionModel& model);
// m/|W|²: dimensions per represented feature, on the whole.
double dimensions_per_feature(const SuperpositionModel& model);

// What the represented features of a model in two dimensions form, by their angles and lengths: "orthogonal pair",
// "antipodal pair", "triangle", "two antipodal pairs", "pentagon", …; empty: nothing regular.
std::string superposition_shape(const SuperpositionModel& model);

nlohmann::ordered_json superposition_json(const SuperpositionOptions& options,
                                          const std::vector<SuperpositionModel>& models);

}  // namespace limpid
