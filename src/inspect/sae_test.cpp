#include "inspect/sae.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "base/temporary_folder.h"
#include "inspect/sae_training.h"

namespace limpid {
namespace {

std::vector<real> random_numbers(int64_t count, uint64_t seed, double factor = 1) {
  Random random(seed);
  std::vector<real> numbers(count);
  for (real& number : numbers) number = static_cast<real>(factor * random.normal());
  return numbers;
}

LoadedSae random_sae(SaeKind kind) {
  LoadedSae sae = make_sae({.kind = kind, .inputs = 4, .features = 9, .k = 2, .tap = "blocks.1.ffn_out"});
  uint64_t seed = 5;
  for (const Weight& weight : sae.parameters->weights()) {
    const std::vector<real> numbers = random_numbers(weight.size(), seed++, 0.5);
    std::copy(numbers.begin(), numbers.end(), sae.parameters->data(weight));
  }
  return sae;
}

// mean over rows of |x - x̂|² + λ·Σf, by the definition.
double loss_of(const LoadedSae& sae, ConstMatrix x, double sparsity) {
  Run run({});
  const Tensor f = sae.sae->encode(run, constant(run, x));
  const Tensor read = sae.sae->decode(run, f);
  double sum = 0;
  for (int64_t r = 0; r < x.rows; ++r) {
    for (int64_t i = 0; i < x.cols; ++i) sum += std::pow(static_cast<double>(x(r, i) - read.values()(r, i)), 2);
    if (sae.sae->config().kind == SaeKind::relu)
      for (int64_t j = 0; j < f.cols(); ++j) sum += sparsity * static_cast<double>(f.values()(r, j));
  }
  return sum / static_cast<double>(x.rows);
}

class SaeGradientOf : public testing::TestWithParam<SaeKind> {};

TEST_P(SaeGradientOf, AgreesWithDifferences) {
  LoadedSae sae = random_sae(GetParam());
  const std::vector<real> numbers = random_numbers(6 * 4, 99);
  const ConstMatrix x(numbers.data(), 6, 4);
  Gradients gradients(*sae.parameters);
  std::vector<int64_t> fired(9);
  const Arena arena;
  sae_gradient(*sae.sae, arena, gradients, x, 0.3, fired);
  gradients.finish();
  for (const Weight& weight : sae.parameters->weights())
    for (int64_t i = 0; i < weight.size(); ++i) {
      constexpr double kStep = 1e-3;
      real& number = sae.parameters->data(weight)[i];
      const real before = number;
      number = before + static_cast<real>(kStep);
      const double above = loss_of(sae, x, 0.3);
      number = before - static_cast<real>(kStep);
      const double below = loss_of(sae, x, 0.3);
      number = before;
      const double difference = (above - below) / (2 * kStep);
      const auto gradient = static_cast<double>(gradients.data()[weight.offset + i]);
      EXPECT_NEAR(gradient, difference, 0.02 * std::max(1.0, std::abs(difference))) << weight.name << " " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SaeGradientOf, testing::Values(SaeKind::relu, SaeKind::topk));

TEST(Sae, KeepsTheLargestThatArePositive) {
  std::vector<real> rows = {3, 1, 3, -2, 2, 3, -1, -2, -3, 4, 0, -5};
  keep_largest(2, {rows.data(), 2, 6});
  EXPECT_EQ(rows, (std::vector<real>{3, 0, 3, 0, 0, 0, 0, 0, 0, 4, 0, 0}));
  std::vector<real> all = {1, -1, 2};
  keep_largest(3, {all.data(), 1, 3});
  EXPECT_EQ(all, (std::vector<real>{1, 0, 2}));
}

TEST(Sae, TheFolderIsThatOfSaeLens) {
  const TemporaryFolder folder;
  LoadedSae sae = random_sae(SaeKind::topk);
  sae.log_density.assign(9, -2);
  write_sae(folder.path() / "sae", sae);
  const auto config = read_json(folder.path() / "sae" / "cfg.json");
  EXPECT_EQ(config["architecture"], "topk");
  EXPECT_EQ(config["d_in"], 4);
  EXPECT_EQ(config["d_sae"], 9);
  EXPECT_EQ(config["k"], 2);
  const LoadedSae again = read_sae(folder.path() / "sae");
  EXPECT_EQ(again.sae->config().tap, "blocks.1.ffn_out");
  EXPECT_EQ(again.log_density, sae.log_density);
  for (const Weight& weight : sae.parameters->weights()) {
    const real* numbers = sae.parameters->data() + weight.offset;
    EXPECT_TRUE(std::equal(numbers, numbers + weight.size(), again.parameters->data() + weight.offset)) << weight.name;
  }
  write_sae(folder.path() / "sae", sae);  // over one of its own
  std::filesystem::create_directory(folder.path() / "other");
  std::ofstream(folder.path() / "other" / "thesis.txt") << "precious";
  EXPECT_THROW(write_sae(folder.path() / "other", sae), Error);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "other" / "thesis.txt"));
}

// Nothing is made by the word of a config before the file with the weights agrees.
TEST(Sae, SizesThatTheFileDoesNotHaveAreRefused) {
  const TemporaryFolder folder;
  write_sae(folder.path() / "sae", make_sae({.kind = SaeKind::relu, .inputs = 4, .features = 8, .tap = "a"}));
  nlohmann::json config = read_json(folder.path() / "sae/cfg.json");
  config["d_in"] = int64_t{1} << 40, config["d_sae"] = int64_t{1} << 40;
  write_text(folder.path() / "sae/cfg.json", config.dump());
  try {
    read_sae(folder.path() / "sae");
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("W_enc has another shape"), std::string::npos) << error.what();
  }
}

TEST(Sae, FindsTheDirectionsThatMadeTheVectors) {
  constexpr int64_t kInputs = 8, kTrue = 12;  // sparse sums of more directions than there are dimensions
  std::vector<real> truth = random_numbers(kTrue * kInputs, 7);
  for (int64_t d = 0; d < kTrue; ++d) {
    double square = 0;
    for (int64_t i = 0; i < kInputs; ++i) square += std::pow(static_cast<double>(truth[d * kInputs + i]), 2);
    for (int64_t i = 0; i < kInputs; ++i) truth[d * kInputs + i] /= static_cast<real>(std::sqrt(square));
  }
  Random random(3);
  const auto draw = [&](Matrix rows) {
    for (int64_t r = 0; r < rows.rows; ++r) {
      std::fill_n(rows.row(r), kInputs, static_cast<real>(0.5));
      for (int64_t n = 0; n < 2; ++n) {
        const int64_t d = random.below(kTrue);
        const auto strength = static_cast<real>(5 * (0.5 + random.uniform()));
        for (int64_t i = 0; i < kInputs; ++i) rows(r, i) += strength * truth[d * kInputs + i];
      }
    }
  };
  LoadedSae sae = make_sae({.kind = SaeKind::topk, .inputs = kInputs, .features = 16, .k = 2});
  std::vector<double> errors;
  train_sae(sae, {.steps = 500, .batch = 128, .learning_rate = 1e-2, .dead_after = 40, .resample_every = 50}, draw,
            [&](const SaeStep& step) {
              errors.push_back(step.loss);
              return true;
            });
  EXPECT_LT(errors.back(), 0.1);
  const real* decoder = sae.parameters->data() + sae.sae->w_dec.offset;
  int64_t found = 0;
  for (int64_t d = 0; d < kTrue; ++d) {
    double best = 0;
    for (int64_t f = 0; f < 16; ++f) {
      double cosine = 0;
      for (int64_t i = 0; i < kInputs; ++i)
        cosine += static_cast<double>(decoder[f * kInputs + i]) * static_cast<double>(truth[d * kInputs + i]);
      best = std::max(best, cosine);
    }
    found += best > 0.95;
  }
  EXPECT_GE(found, 10);
  for (int64_t f = 0; f < 16; ++f) {
    double square = 0;
    for (int64_t i = 0; i < kInputs; ++i) square += std::pow(static_cast<double>(decoder[f * kInputs + i]), 2);
    EXPECT_NEAR(square, 1, 1e-5);
  }
}

}  // namespace
}  // namespace limpid
