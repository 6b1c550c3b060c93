#include "inspect/superposition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "inspect/superposition_picture.h"

namespace limpid {
namespace {

// Directions at these angles, in degrees, of length one.
SuperpositionModel star(const std::vector<double>& angles) {
  SuperpositionModel model{.features = static_cast<int64_t>(angles.size()), .dimensions = 2};
  model.weight.resize(2 * angles.size());
  model.bias.resize(angles.size());
  for (size_t i = 0; i < angles.size(); ++i) {
    model.weight[i] = static_cast<real>(std::cos(angles[i] * std::numbers::pi / 180));
    model.weight[angles.size() + i] = static_cast<real>(std::sin(angles[i] * std::numbers::pi / 180));
  }
  return model;
}

TEST(Superposition, DimensionalityOfKnownShapes) {
  for (double share : feature_dimensionality(star({0, 90}))) EXPECT_NEAR(share, 1, 1e-6);
  for (double share : feature_dimensionality(star({0, 90, 180, 270}))) EXPECT_NEAR(share, 0.5, 1e-6);
  for (double share : feature_dimensionality(star({0, 120, 240}))) EXPECT_NEAR(share, 2.0 / 3, 1e-6);
  for (double share : feature_dimensionality(star({0, 72, 144, 216, 288}))) EXPECT_NEAR(share, 0.4, 1e-6);
  EXPECT_NEAR(dimensions_per_feature(star({0, 72, 144, 216, 288})), 0.4, 1e-6);
}

TEST(Superposition, ShapesHaveNamesWhateverTheTurn) {
  EXPECT_EQ(superposition_shape(star({40, 130})), "orthogonal pair");
  EXPECT_EQ(superposition_shape(star({13, 193})), "antipodal pair");
  EXPECT_EQ(superposition_shape(star({5, 275, 95, 185})), "two antipodal pairs");
  EXPECT_EQ(superposition_shape(star({30, 102, 174, 246, 318})), "pentagon");
  EXPECT_EQ(superposition_shape(star({0, 20, 200})), "");
}

TEST(Superposition, AShortFeatureIsNotRepresented) {
  SuperpositionModel model = star({0, 90, 200});
  for (int64_t d = 0; d < 2; ++d) model.weight[d * 3 + 2] *= static_cast<real>(0.3);
  EXPECT_EQ(represented_features(model), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(neighbour_angles(model).size(), 2u);
}

TEST(Superposition, TheLossFallsAndTheSeedDecides) {
  const SuperpositionOptions options{.features = 4, .dimensions = 3, .steps = 300, .batch = 128};
  std::vector<double> losses;
  const SuperpositionModel model = train_one_superposition(options, 0.3, 3, &losses);
  ASSERT_EQ(losses.size(), 300u);
  EXPECT_LT(model.loss, 0.6 * losses[0]);
  EXPECT_EQ(train_one_superposition(options, 0.3, 3).weight, model.weight);
  EXPECT_NE(train_one_superposition(options, 0.3, 4).weight, model.weight);
}

TEST(Superposition, SparseFeaturesFormAPentagon) {
  const auto models = train_superposition({.densities = {0.05}, .steps = 700, .batch = 512, .starts = 2, .seed = 1});
  ASSERT_EQ(represented_features(models[0]).size(), 5u);
  for (double angle : neighbour_angles(models[0])) EXPECT_NEAR(angle, 72, 3);
}

TEST(Superposition, DenseFeaturesDropTheLessImportant) {
  const auto models =
      train_superposition({.densities = {1}, .steps = 2000, .batch = 128, .learning_rate = 1e-2, .seed = 1});
  EXPECT_EQ(represented_features(models[0]), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(superposition_shape(models[0]), "orthogonal pair");
}

TEST(Superposition, InterruptedIsAnError) {
  const SuperpositionOptions options{.densities = {0.5}, .steps = 50, .batch = 16};
  EXPECT_THROW(train_superposition(options, [](int64_t done) { return done < 10; }), Error);
  EXPECT_THROW(train_superposition({.densities = {0}}), Error);
}

TEST(Superposition, PicturesNameTheDensities) {
  EXPECT_NE(geometry_svg({star({0, 90})}).find("orthogonal pair"), std::string::npos);
  EXPECT_NE(geometry_terminal({star({0, 90})}, {}).find("2 of 2"), std::string::npos);
}

}  // namespace
}  // namespace limpid
