#include "models/parameter_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/config_examples.h"
#include "models/model.h"
#include "models/small_models.h"

namespace limpid {
namespace {

using examples::Json;
using ::testing::HasSubstr;

Weight weight(const char* name, ParameterRole role, std::vector<int64_t> shape) {
  Weight result;
  result.name = name;
  result.shape = std::move(shape);
  result.role = role;
  return result;
}

std::vector<Weight> small() {
  std::vector<Weight> weights = {
      weight("wte.weight", ParameterRole::embedding, {100, 10}),
      weight("wpe.weight", ParameterRole::position, {20, 10}),
      weight("h.0.attn.c_attn.weight", ParameterRole::attention, {10, 30}),
      weight("h.0.attn.c_attn.bias", ParameterRole::attention, {30}),
      weight("h.0.mlp.c_fc.weight", ParameterRole::feed_forward, {10, 40}),
      weight("h.0.ln_1.weight", ParameterRole::norm, {10}),
      weight("h.0.ln_1.bias", ParameterRole::norm, {10}),
      weight("final_logits_bias", ParameterRole::output, {1, 100}),
      weight("decoder.rnn.weight_ih_l0", ParameterRole::recurrent, {8, 10}),
      weight("decoder.rnn.bias_ih_l0", ParameterRole::recurrent, {8}),
      weight("decoder.attn_v", ParameterRole::attention, {7}),
      weight("norm.running_mean", ParameterRole::norm, {10}),
  };
  weights.back().trainable = false;
  return weights;
}

void expect_count(const ParameterTable& table, ParameterRole role, int64_t weights, int64_t biases) {
  EXPECT_EQ(table.of(role).weights, weights) << part_name(role);
  EXPECT_EQ(table.of(role).biases, biases) << part_name(role);
}

TEST(ParameterTable, CountsByPart) {
  const ParameterTable table = parameter_table(small());
  expect_count(table, ParameterRole::embedding, 1000, 0);
  expect_count(table, ParameterRole::position, 200, 0);
  expect_count(table, ParameterRole::attention, 307, 30);
  expect_count(table, ParameterRole::feed_forward, 400, 0);
  expect_count(table, ParameterRole::norm, 10, 10);
  expect_count(table, ParameterRole::recurrent, 80, 8);
  expect_count(table, ParameterRole::output, 0, 100);
  EXPECT_EQ(table.total(), 2145);
  EXPECT_EQ(table.matrices(), 1000 + 307 + 400 + 80);
}

TEST(ParameterTable, AModelCountsAsItsWeights) {
  const SmallModel model = small_model(small_configs().at("gpt2"));
  std::vector<Weight> weights;
  model.model->each_parameter([&](const Weight& weight) { weights.push_back(weight); });
  EXPECT_GT(parameter_table(*model.model).total(), 0);
  EXPECT_EQ(to_text(parameter_table(*model.model)), to_text(parameter_table(weights)));
}

TEST(ParameterTable, PartsStandInTheOrderOfTheirNumbers) {
  for (size_t i = 0; i < kParts.size(); ++i) EXPECT_EQ(static_cast<size_t>(kParts[i]), i);
}

TEST(ParameterTable, TextIsAligned) {
  const std::vector<Weight> weights = {weight("a.weight", ParameterRole::embedding, {1500, 1000}),
                                       weight("b.weight", ParameterRole::attention, {500, 1000}),
                                       weight("b.bias", ParameterRole::attention, {1000}),
                                       weight("n.weight", ParameterRole::norm, {999})};
  EXPECT_EQ(to_text(parameter_table(weights)),
            "part                    parameters     share             weights          biases\n"
            "embedding                1,500,000   74.93 %           1,500,000               0\n"
            "attention                  501,000   25.02 %             500,000           1,000\n"
            "norms                          999    0.05 %                 999               0\n"
            "total                    2,001,999  100.00 %           2,000,999           1,000\n"
            "without norms, positions and biases: 2,000,000\n");
}

TEST(ParameterTable, JsonForMachines) {
  const std::vector<Weight> weights = {weight("a.weight", ParameterRole::embedding, {30, 10}),
                                       weight("b.bias", ParameterRole::feed_forward, {100})};
  EXPECT_EQ(to_json(parameter_table(weights)), Json::parse(R"({
    "parameters": 400, "without_norms_positions_biases": 300, "parts": [
      {"part": "embedding", "parameters": 300, "share": 0.75, "weights": 300, "biases": 0},
      {"part": "feed-forward", "parameters": 100, "share": 0.25, "weights": 0, "biases": 100}]})"));
}

TEST(ParameterTable, NothingIsNoError) {
  const ParameterTable table = parameter_table(std::span<const Weight>());
  EXPECT_EQ(table.total(), 0);
  EXPECT_THAT(to_text(table), HasSubstr("0.00 %"));
}

TEST(ParameterTable, SeparatesThousands) {
  EXPECT_EQ(with_separators(0), "0");
  EXPECT_EQ(with_separators(999), "999");
  EXPECT_EQ(with_separators(1000), "1,000");
  EXPECT_EQ(with_separators(175181291520), "175,181,291,520");
  EXPECT_EQ(with_separators(-100), "-100");
  EXPECT_EQ(with_separators(-1000), "-1,000");
}

ParameterTable table_of(const Config& config) {
  const std::unique_ptr<Model> model = make_model(config);
  return parameter_table(*model);
}

// Brown et al. 2020, Table 2.1: GPT-3 175B. The embedding and its inverse counted apart, as talks about it do.
TEST(ParameterTable, Gpt3) {
  const ParameterTable table =
      table_of(parse_config(Json::parse(R"({"model_type": "gpt2", "n_layer": 96, "n_embd": 12288,
      "n_head": 96, "vocab_size": 50257, "n_positions": 2048, "tie_word_embeddings": false})")));
  EXPECT_EQ(table.matrices(), 175'181'291'520);
  EXPECT_EQ(table.of(ParameterRole::embedding).weights, 617'558'016);
  EXPECT_EQ(table.of(ParameterRole::output).weights, 617'558'016);
  EXPECT_EQ(table.of(ParameterRole::attention).weights, 57'982'058'496);
  EXPECT_EQ(table.of(ParameterRole::feed_forward).weights, 115'964'116'992);
  EXPECT_EQ(table.of(ParameterRole::position).total(), 2048 * 12288);
  EXPECT_EQ(table.of(ParameterRole::norm).total(), (2 * 96 + 1) * 2 * 12288);
}

// Totals that the models' own pages state.
TEST(ParameterTable, FamousModels) {
  const auto total = [](const char* text) { return table_of(parse_config(Json::parse(text))).total(); };
  EXPECT_EQ(total(R"({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "vocab_size": 50257,
                      "n_positions": 1024})"),
            124'439'808);
  EXPECT_EQ(total(R"({"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 11008,
                      "num_attention_heads": 32, "vocab_size": 32000})"),
            6'738'415'616);
  EXPECT_EQ(total(R"({"model_type": "llama", "num_hidden_layers": 22, "hidden_size": 2048, "intermediate_size": 5632,
                      "num_attention_heads": 32, "num_key_value_heads": 4, "vocab_size": 32000})"),
            1'100'048'384);
  EXPECT_EQ(total(R"({"model_type": "bert", "num_hidden_layers": 12, "hidden_size": 768, "intermediate_size": 3072,
                      "num_attention_heads": 12, "vocab_size": 30522, "max_position_embeddings": 512})"),
            109'514'298);
}

}  // namespace
}  // namespace limpid
