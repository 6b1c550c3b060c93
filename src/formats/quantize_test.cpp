#include "formats/quantize.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "formats/gguf_export.h"
#include "formats/gguf_model.h"
#include "formats/gguf_tokenizer.h"
#include "formats/model_folder.h"
#include "formats/quantized_folder.h"
#include "formats/small_gguf.h"
#include "models/small_models.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

std::vector<real> logits(const Model& model, const Batch& batch) {
  limpid::Run run({});
  const Tensor y = model.logits(run, batch);
  return {y.values().data, y.values().data + y.values().size()};
}

// Σ (a − b)² / Σ b²
double distance(const std::vector<real>& a, const std::vector<real>& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return difference / size;
}

// The small configs, or such as have whole blocks.
Json blocked(const std::string& name) {
  Json json = small_configs().at(name);
  if (name == "llama" || name == "llama_tied_bias")
    json.merge_patch({{"hidden_size", 64}, {"intermediate_size", 96}, {"mlp_bias", false}});
  else
    json.merge_patch({{"n_embd", 96}});
  return json;
}

class Quantized : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

class QuantizedFamilies : public Quantized, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, QuantizedFamilies, testing::ValuesIn(small_config_names()), config_of_test);

TEST_P(QuantizedFamilies, FolderGivesTheScoresOfTheModelInMemory) {
  Json config = small_configs().at(GetParam());
  // Between two experts of nearly equal scores the smallest change decides: here every token takes all of them.
  for (const char* count : {"num_local_experts", "num_experts"})
    if (config.contains(count)) config["num_experts_per_tok"] = config[count];
  const SmallModel small = small_model(config);
  const QuantizedModel quantized = quantize(*small.model, {.bits = 8});
  const std::vector<real> before = logits(*small.model, small.batch), after = logits(*quantized.model, small.batch);
  EXPECT_LT(distance(after, before), 4e-3);  // rows of six to twenty numbers: some per cent of the size
  EXPECT_GT(distance(after, before), 0);
  write_quantized_folder(folder_.path() / "m", *quantized.model, {.bits = 8});
  const auto model = make_model(load_config((folder_.path() / "m").string()));
  const MappedWeights weights(folder_.path() / "m", *model);
  EXPECT_EQ(logits(*model, small.batch), after);
}

TEST_P(QuantizedFamilies, CannotBeTrained) {
  const SmallModel small = small_model(small_configs().at(GetParam()));
  const QuantizedModel quantized = quantize(*small.model, {.bits = 8});
  const Arena arena;
  Tape tape(arena);
  limpid::Run run({.arena = arena, .tape = &tape, .train = true});
  try {
    quantized.model->loss(run, small.batch, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("quantised weights cannot be trained"));
  }
  write_quantized_folder(folder_.path() / "m", *quantized.model, {.bits = 8});
  Parameters parameters([&](const WeightVisitor& visitor) { small.model->visit_parameters(visitor); });
  EXPECT_THROW(read_weights(SafetensorsFolder(folder_.path() / "m"), parameters), Error);
}

TEST_F(Quantized, FourBitsInAFolder) {
  for (const std::string name : {"llama", "gpt2"}) {
    const SmallModel small = small_model(blocked(name));
    const QuantizedModel quantized = quantize(*small.model, {.bits = 4});
    const std::vector<real> after = logits(*quantized.model, small.batch);
    const double lost = distance(after, logits(*small.model, small.batch));
    EXPECT_TRUE(lost > 1e-5 && lost < 0.2) << name << " " << lost;
    write_quantized_folder(folder_.path() / name, *quantized.model, {.bits = 4});
    const auto model = make_model(load_config((folder_.path() / name).string()));
    const MappedWeights weights(folder_.path() / name, *model);
    EXPECT_EQ(logits(*model, small.batch), after) << name;
  }
}

TEST_F(Quantized, GgufGivesTheScoresOfTheModelInMemory) {
  for (const std::string name : {"llama", "llama_tied_bias", "gpt2"}) {
    const SmallModel small = small_model(blocked(name));
    const std::vector<real> before = logits(*small.model, small.batch);
    double last = 0;
    for (const int bits : {32, 16, 8, 4}) {
      SCOPED_TRACE(testing::Message() << name << " " << bits);
      const QuantizedModel quantized = quantize(*small.model, {.bits = bits, .for_gguf = true});
      const std::vector<real> after = logits(*quantized.model, small.batch);
      const auto path = folder_.path() / "m.gguf";
      write_gguf(path, *quantized.model, {}, {.name = "small"});
      const GgufFile file(path);
      const auto model = make_model(gguf_config(file));
      WeightHolder holder;
      attach_gguf(file, *model, holder);
      EXPECT_EQ(logits(*model, small.batch), after);
      const double lost = distance(after, before);
      EXPECT_GE(lost, last);
      EXPECT_LT(lost, bits == 32 ? 1e-9 : bits == 16 ? 1e-5 : bits == 8 ? 2e-3 : 0.2);
      last = lost;
    }
  }
}

TEST_F(Quantized, TypesAndSizes) {
  const SmallModel small = small_model(blocked("llama_tied_bias"));
  int64_t matrices = 0;
  const QuantizedModel quantized = quantize(*small.model, {.bits = 4, .for_gguf = true});
  quantized.model->visit_parameters([&](Weight& weight) {
    const bool scores_words = weight.name == "model.embed_tokens.weight";  // tied
    const DType wanted = scores_words ? DType::q8_0 : weight.is_matrix() ? DType::q4_0 : DType::f32;
    EXPECT_EQ(weight.type, wanted) << weight.name;
    if (wanted == DType::q4_0) matrices += weight.size();
  });
  EXPECT_GT(matrices, 0);
  write_gguf(folder_.path() / "m.gguf", *quantized.model, {}, {.name = "small"});
  const GgufFile file(folder_.path() / "m.gguf");
  int64_t bytes = 0;
  for (const GgufTensor& tensor : file.tensors())
    if (tensor.type->name == "Q4_0") bytes += static_cast<int64_t>(tensor.bytes.size());
  EXPECT_EQ(bytes, matrices / 32 * 18);
  EXPECT_EQ(file.integer("general.file_type"), 2);
}

TEST_F(Quantized, GradientsPassThroughQuantisedLayers) {
  const SmallModel small = small_model(blocked("llama"));
  const QuantizedModel quantized = quantize(*small.model, {.bits = 8});
  const auto gradient = [&](const Model& model) {
    const Arena arena;
    Tape tape(arena);
    limpid::Run run({.arena = arena, .tape = &tape});
    Tensor x = run.make(3, 64, true);
    for (int64_t i = 0; i < 3 * 64; ++i) x.values().data[i] = static_cast<real>(std::sin(i));
    const Tensor y = model.output().logits(run, x, Sequences({3}));
    std::vector<real> seed(static_cast<size_t>(y.rows() * y.cols()), 0);
    seed[5] = 1;
    tape.seed(y, {seed.data(), y.rows(), y.cols()});
    tape.backward();
    const Buffer block = x.gradient()->block;
    return std::vector<real>(block.get(), block.get() + 3 * 64);
  };
  const double apart = distance(gradient(*quantized.model), gradient(*small.model));
  EXPECT_TRUE(apart > 0 && apart < 1e-3) << apart;
}

TEST_F(Quantized, WhatGgufCannotHoldIsSaid) {
  const auto reason = [](const std::string& name) {
    return why_no_gguf(parse_config(small_configs().at(name)), Tokenizers{});
  };
  EXPECT_EQ(reason("llama"), "");
  EXPECT_EQ(reason("gpt2"), "");
  EXPECT_THAT(reason("marian"), HasSubstr("GGUF files of marian are not written"));
  EXPECT_THAT(reason("gpt2_rms_rotary"), HasSubstr("only Limpid"));
  EXPECT_EQ(reason("llama_tied_bias"), "");
}

TEST_F(Quantized, RoutersStayAsTheyAre) {
  for (const std::string name : {"mixtral", "qwen2_moe"}) {
    const SmallModel small = small_model(small_configs().at(name));
    int routers = 0;
    quantize(*small.model, {.bits = 4}).model->visit_parameters([&](Weight& weight) {
      const bool router = weight.name.ends_with(".gate.weight");
      EXPECT_TRUE(!router || weight.type == DType::f32) << weight.name;
      routers += router ? 1 : 0;
    });
    EXPECT_EQ(routers, small.model->config().decoder.layers) << name;
  }
}

// What a router decides for a token: the experts that it takes, and by how much the last of them is ahead of the next
// one, in standard deviations of the token's scores.
struct Choice {
  std::vector<int64_t> experts;
  double lead = 0;
};

std::vector<Choice> choices(const Model& model, const Batch& batch) {
  std::vector<Choice> all;
  const int64_t chosen = model.config().experts.chosen;
  FunctionProbe probe;
  probe.on("*.ffn.router", [&](const Tap& tap) {
    for (int64_t t = 0; t < tap.value.rows(); ++t) {
      const real* const scores = tap.value.values().row(t);
      const int64_t count = tap.value.cols();
      std::vector<int64_t> order(count);
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < count; ++i) {
        sum += static_cast<double>(scores[i]);
        squares += std::pow(static_cast<double>(scores[i]), 2);
      }
      const double mean = sum / static_cast<double>(count);
      const double spread = std::sqrt(squares / static_cast<double>(count) - mean * mean);
      Choice choice{{order.begin(), order.begin() + chosen},
                    static_cast<double>(scores[order[chosen - 1]] - scores[order[chosen]]) / spread};
      std::sort(choice.experts.begin(), choice.experts.end());
      all.push_back(std::move(choice));
    }
  });
  Arena arena;
  limpid::Run run({.arena = arena, .probe = &probe});
  model.logits(run, batch);
  return all;
}

// The numbers that a router reads are a little off, so that a token between two experts may take the other one. Of
// random routers, whose scores lie close: few tokens at 8 bits, and none whose choice was clear.
TEST_F(Quantized, TokensKeepTheirExperts) {
  for (const std::string name : {"mixtral", "qwen2_moe", "qwen3_moe"}) {
    Json config = small_configs().at(name);
    config.merge_patch(
        {{"hidden_size", 64}, {"intermediate_size", 64}, {"head_dim", nullptr}, {"rope_theta", 10000.0}});
    for (const char* count : {"num_local_experts", "num_experts"})
      if (config.contains(count)) config[count] = 8;
    for (const char* features : {"moe_intermediate_size", "shared_expert_intermediate_size"})
      if (config.contains(features)) config[features] = 64;
    SmallModel small = small_model(config);
    Random random(5);
    small.batch = Batch::next_tokens(random_rows(random, {21, 21, 21, 21, 21, 21, 21, 21, 21, 21}, 23));
    const std::vector<Choice> before = choices(*small.model, small.batch);
    const struct {
      int bits;
      double kept, clear;
    } expected[] = {{8, 0.9, 0.3}, {4, 0.55, 1.5}};
    for (const auto& [bits, kept, clear] : expected) {
      const std::vector<Choice> after = choices(*quantize(*small.model, {.bits = bits}).model, small.batch);
      ASSERT_EQ(after.size(), before.size());
      double same = 0, largest = 0;
      for (size_t i = 0; i < before.size(); ++i) {
        if (before[i].experts == after[i].experts)
          ++same;
        else
          largest = std::max(largest, before[i].lead);
      }
      EXPECT_GE(same / static_cast<double>(before.size()), kept) << name << ", " << bits << " bits";
      EXPECT_LT(largest, clear) << name << ", " << bits << " bits";
    }
  }
}

TEST_F(Quantized, WhatElseBelongsToAFolderIsCopied) {
  const auto from = folder_.path() / "from", to = folder_.path() / "to";
  std::filesystem::create_directories(from / "1_Pooling");
  std::filesystem::create_directories(from / "onnx");
  std::filesystem::create_directories(to);
  const std::vector<std::string> belong = {"tokenizer.json", "spiece.model",          "chat_template.jinja",
                                           "modules.json",   "1_Pooling/config.json", "generation_config.json"};
  for (const std::string& name : belong) write_text(from / name, name);
  for (const char* name : {"config.json", "model.safetensors", "onnx/model.onnx"}) write_text(from / name, name);
  for (int time = 0; time < 2; ++time) copy_companions(from, to);
  for (const std::string& name : belong) EXPECT_EQ(read_text(to / name), name);
  for (const char* name : {"config.json", "model.safetensors", "onnx"})
    EXPECT_FALSE(std::filesystem::exists(to / name)) << name;
}

TEST_F(Quantized, DamagedFoldersAreRefused) {
  const SmallModel small = small_model(blocked("llama"));
  const QuantizedModel quantized = quantize(*small.model, {.bits = 8});
  const auto folder = folder_.path() / "m";
  write_quantized_folder(folder, *quantized.model, {.bits = 8});
  Json json = load_config(folder.string()).json;
  json["hidden_size"] = 128;  // does not fit the matrices
  const auto model = make_model(parse_config(json));
  try {
    const MappedWeights weights(folder, *model);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("model.embed_tokens.weight"));
  }
}

}  // namespace
}  // namespace limpid
