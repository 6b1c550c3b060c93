// Embeddings and neurons: what the matrices say of tokens.

#include <gtest/gtest.h>

#include <cmath>

#include "inspect/embeddings.h"
#include "inspect/neurons.h"
#include "inspect/tap_record.h"
#include "models/small_models.h"

namespace limpid {
namespace {

TEST(Embeddings, ATokenIsItsOwnNearest) {
  const SmallModel small = small_model(small_configs().at("gpt2"));
  const EmbeddingSpace space(*small.model, "");
  const auto near = space.nearest(space.vector(7), 5, Similarity::cosine);
  ASSERT_EQ(near.size(), 5u);
  EXPECT_EQ(near[0].id, 7);
  EXPECT_NEAR(near[0].similarity, 1, 1e-6);
  for (size_t i = 1; i < near.size(); ++i) {
    EXPECT_LE(near[i].similarity, near[i - 1].similarity);
    EXPECT_NEAR(near[i].similarity, similarity(space.vector(7), space.vector(near[i].id), Similarity::cosine), 1e-12);
  }
}

TEST(Embeddings, PrincipalComponentsOfAPlaneKeepDistances) {
  std::vector<std::vector<double>> points;  // a plane in three dimensions, turned
  for (const auto& [a, b] : std::vector<std::pair<double, double>>{{0, 0}, {4, 0}, {0, 1}, {4, 1}, {2, 3}})
    points.push_back({a, b * 0.6, b * 0.8 + 5});
  const Projection2d flat = principal_components(points);
  EXPECT_NEAR(flat.explained[0] + flat.explained[1], 1, 1e-9);
  EXPECT_GT(flat.explained[0], flat.explained[1]);
  for (size_t i = 0; i < points.size(); ++i)
    for (size_t k = 0; k < i; ++k) {
      double before = 0;
      for (size_t j = 0; j < 3; ++j) before += std::pow(points[i][j] - points[k][j], 2);
      const double after =
          std::pow(flat.points[i][0] - flat.points[k][0], 2) + std::pow(flat.points[i][1] - flat.points[k][1], 2);
      EXPECT_NEAR(after, before, 1e-6);
    }
}

TEST(Embeddings, PrincipalComponentsThatAreNearlyEqualAreToldApart) {
  const double square = 0.999;  // of the second axis, beside 1 of the first
  std::vector<std::vector<double>> points;
  for (const double sign : {1.0, -1.0}) {
    points.push_back({0, sign * std::sqrt(square), 0});
    points.push_back({sign, 0, 0});
    points.push_back({0, 0, sign * 0.5});
  }
  const Projection2d flat = principal_components(points);
  EXPECT_NEAR(flat.explained[0], 1 / (1 + square + 0.25), 1e-12);
  EXPECT_NEAR(flat.explained[1], square / (1 + square + 0.25), 1e-12);
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(std::abs(flat.points[i][0]), std::abs(points[i][0]), 1e-9);
    EXPECT_NEAR(std::abs(flat.points[i][1]), std::abs(points[i][1]), 1e-9);
  }
}

TEST(Neurons, AnAnswerPlantedInTheDownProjectionIsFound) {
  for (const char* name : {"gpt2", "llama", "marian", "pegasus"}) {
    const SmallModel small = small_model(small_configs().at(name));
    const bool turned = small.model->config().layout == WeightLayout::in_out;
    const std::string scope = small.model->config().cross_attention() ? "decoder" : "";
    const BlockNames names = stack_names(small.model->config(), scope).of(1);
    const Weight output = small.model->output().weight();
    const int64_t width = small.model->config().width;
    for (const Weight& weight : small.parameters->weights()) {
      real* data = small.parameters->data(weight);
      if (weight.role == ParameterRole::norm && weight.name.ends_with("weight"))
        std::fill_n(data, weight.size(), real{1});
      if (weight.name != names.ffn.down + ".weight") continue;
      const int64_t features = weight.size() / width;
      const std::vector<double> row = row_of(output, 9);
      for (int64_t i = 0; i < width; ++i)
        data[turned ? 4 * width + i : i * features + 4] = static_cast<real>(50 * row[i]);
    }
    const NeuronReader reader(*small.model, scope, 1);
    const NeuronReading reading = reader.read(4, 3);
    // What the column points at is promoted most, unless another token's vector is longer in its direction.
    double most = 0;
    for (int32_t v = 0; v < 23; ++v) {
      const std::vector<double> a = row_of(output, 9), b = row_of(output, v);
      const bool centred = small.model->config().norm == NormKind::layer;
      double mean = 0;
      for (double x : a) mean += x / static_cast<double>(width);
      double says = 0;
      for (int64_t i = 0; i < width; ++i) says += 50 * (a[i] - (centred ? mean : 0)) * b[i];
      most = std::max(most, says);
    }
    EXPECT_NEAR(reading.promoted[0].value, most, 1e-3 * most) << name;
    EXPECT_LT(reading.demoted[0].value, reading.promoted[0].value);
  }
}

TEST(Neurons, ThoseThatWroteMostComeFirst) {
  const SmallModel small = small_model(small_configs().at("llama"));
  const Example example = example_of(small.model->config(), {}, {4, 9, 2, 17});
  const NeuronReader reader(*small.model, "", 0);
  const auto fired = reader.fired(example, -1, reader.count());
  const auto post = record_taps(*small.model, example, {"blocks.0.ffn.post"}).at("blocks.0.ffn.post").row(3);
  for (size_t i = 0; i < fired.size(); ++i) {
    EXPECT_DOUBLE_EQ(fired[i].activation, post[fired[i].neuron]);
    EXPECT_LE(fired[i].written, fired[i > 0 ? i - 1 : 0].written);
  }
  EXPECT_THROW(reader.read(reader.count(), 3), Error);
  EXPECT_THROW(NeuronReader(*small.model, "", 2), Error);
}

}  // namespace
}  // namespace limpid
