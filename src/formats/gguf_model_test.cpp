#include "formats/gguf_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "formats/llama2c.h"
#include "formats/small_gguf.h"
#include "models/small_models.h"
#include "tensor/quantize.h"

namespace limpid {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

std::vector<real> logits(const Model& model, const Batch& batch) {
  Arena arena;
  limpid::Run run({.arena = arena});
  const Tensor scores = model.logits(run, batch);
  const real* first = scores.values().row(0);
  return {first, first + scores.rows() * scores.cols()};
}

// Numbers in the order of the format: Llama's queries and keys by pairs that turn together.
std::vector<real> turned(const std::vector<real>& numbers, int64_t rows, int64_t head) {
  std::vector<real> result(numbers.size());
  const int64_t row = static_cast<int64_t>(numbers.size()) / rows;
  for (int64_t h = 0; h < rows / head; ++h)
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t i = 0; i < head / 2; ++i)
        std::copy_n(numbers.begin() + (h * head + half * head / 2 + i) * row, row,
                    result.begin() + (h * head + 2 * i + half) * row);
  return result;
}

std::vector<real> transposed(const std::vector<real>& numbers, int64_t rows, int64_t cols) {
  std::vector<real> result(numbers.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) result[j * rows + i] = numbers[i * cols + j];
  return result;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const size_t at = text.find(what);
  return at == text.npos ? text : text.replace(at, what.size(), by);
}

// The format's names, written out again.
std::string their_name(std::string name) {
  for (const auto& [ours, theirs] :
       std::vector<std::pair<std::string, std::string>>{{"model.embed_tokens", "token_embd"},
                                                        {"model.layers.", "blk."},
                                                        {"input_layernorm", "attn_norm"},
                                                        {"self_attn.q_proj", "attn_q"},
                                                        {"self_attn.k_proj", "attn_k"},
                                                        {"self_attn.v_proj", "attn_v"},
                                                        {"self_attn.o_proj", "attn_output"},
                                                        {"post_attention_layernorm", "ffn_norm"},
                                                        {"mlp.gate_proj", "ffn_gate"},
                                                        {"mlp.up_proj", "ffn_up"},
                                                        {"mlp.down_proj", "ffn_down"},
                                                        {"model.norm", "output_norm"},
                                                        {"lm_head", "output"},
                                                        {"wte", "token_embd"},
                                                        {"wpe", "position_embd"},
                                                        {"ln_1", "attn_norm"},
                                                        {"attn.c_attn", "attn_qkv"},
                                                        {"attn.c_proj", "attn_output"},
                                                        {"ln_2", "ffn_norm"},
                                                        {"mlp.c_fc", "ffn_up"},
                                                        {"mlp.c_proj", "ffn_down"},
                                                        {"ln_f", "output_norm"}})
    name = replaced(std::move(name), ours, theirs);
  return name.starts_with("h.") ? "blk." + name.substr(2) : name;
}

class GgufModels : public testing::Test {
 protected:
  static SmallModel one_layer() {
    Json config = small_configs().at("llama");
    config["num_hidden_layers"] = 1;
    return small_model(config);
  }
  // The model as a GGUF file, matrices in the type.
  GgufBuilder written(const SmallModel& small, DType type) const {
    const Config& config = small.model->config();
    GgufBuilder builder = keys(config);
    for (const Weight& weight : small.parameters->weights()) {
      const real* data = small.parameters->data(weight);
      std::vector<real> numbers(data, data + weight.size());
      std::vector<int64_t> shape = weight.shape;
      if (weight.name.find("q_proj") != std::string::npos || weight.name.find("k_proj") != std::string::npos)
        numbers = turned(numbers, shape[0], config.head_size);
      if (weight.name.find(".c_") != std::string::npos && shape.size() == 2) {
        numbers = transposed(numbers, shape[0], shape[1]);
        std::swap(shape[0], shape[1]);
      }
      const DType stored = shape.size() == 2 ? type : DType::f32;
      std::string bytes(static_cast<size_t>(bytes_of(stored, weight.size())), '\0');
      from_real(numbers.data(), weight.size(), stored, bytes.data());
      builder.tensor(their_name(weight.name), shape, gguf_type(name_of(stored))->id, bytes);
    }
    return builder;
  }
  static GgufBuilder keys(const Config& config) {
    GgufBuilder builder;
    const std::string family = config.model_type;
    builder.text("general.architecture", family);
    const auto size = [&](const char* key, int64_t value) {
      builder.integer(family + "." + key, static_cast<uint32_t>(value));
    };
    size("block_count", config.decoder.layers);
    size("context_length", config.max_positions);
    size("embedding_length", config.width);
    size("feed_forward_length", config.decoder.ffn);
    size("attention.head_count", config.decoder.heads);
    if (family == "llama") size("attention.head_count_kv", config.decoder.kv_heads);
    builder.real(family + (family == "llama" ? ".attention.layer_norm_rms_epsilon" : ".attention.layer_norm_epsilon"),
                 static_cast<float>(config.norm_eps));
    return builder;
  }
  // The largest difference between the model's scores and those of its file.
  double difference(const std::string& name, DType type) {
    const SmallModel small = small_model(small_configs().at(name));
    const GgufFile file = open(written(small, type));
    const auto model = make_model(gguf_config(file));
    WeightHolder holder;
    attach_gguf(file, *model, holder);
    const auto a = logits(*small.model, small.batch), b = logits(*model, small.batch);
    EXPECT_EQ(a.size(), b.size());
    double largest = 0;
    for (size_t i = 0; i < a.size(); ++i) largest = std::max<double>(largest, std::abs(a[i] - b[i]));
    return largest;
  }
  GgufFile open(const GgufBuilder& builder) const {
    write_text(folder_ / "x.gguf", builder.bytes());
    return GgufFile(folder_ / "x.gguf");
  }
  std::string error(const GgufBuilder& builder) const {
    try {
      const GgufFile file = open(builder);
      const auto model = make_model(gguf_config(file));
      WeightHolder holder;
      attach_gguf(file, *model, holder);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  TemporaryFolder folder_;
};

TEST_F(GgufModels, GiveTheScoresOfTheModelThatWasWritten) {
  for (const std::string name : {"llama", "gpt2"}) {
    EXPECT_LT(difference(name, DType::f32), 1e-5) << name;
    const double half = difference(name, DType::f16), brain = difference(name, DType::bf16);
    EXPECT_TRUE(half > 1e-5 && half < 0.02) << name << " " << half;
    EXPECT_TRUE(brain > half && brain < 0.2) << name << " " << brain;
  }
}

TEST_F(GgufModels, BlocksAreRead) {
  std::string eight, four;
  append_raw(eight, to_f16(0.5f));
  append_raw(four, to_f16(0.25f));
  for (int i = 0; i < 32; ++i) eight += static_cast<char>(i - 16);
  for (int i = 0; i < 16; ++i) four += static_cast<char>(i | (15 - i) << 4);
  GgufBuilder builder;
  builder.tensor("eight", {1, 32}, 8, eight);
  builder.tensor("four", {1, 32}, 2, four);
  const GgufFile file = open(builder);
  std::vector<real> numbers(32);
  dequantize_row(DType::q8_0, file.tensor("eight")->bytes.data(), 0, 32, numbers.data());
  for (int i = 0; i < 32; ++i) EXPECT_EQ(numbers[i], static_cast<real>(0.5 * (i - 16)));
  dequantize_row(DType::q4_0, file.tensor("four")->bytes.data(), 0, 32, numbers.data());
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(numbers[i], static_cast<real>(0.25 * (i - 8)));
    EXPECT_EQ(numbers[16 + i], static_cast<real>(0.25 * (7 - i)));
  }
}

TEST_F(GgufModels, TypesThatAreNotReadAreNamed) {
  const SmallModel small = one_layer();
  GgufBuilder builder = keys(small.model->config());
  builder.tensor("token_embd.weight", {23, 16}, 24, std::string(23 * 16, '\0'));
  EXPECT_THAT(
      error(builder),
      HasSubstr("holds numbers of type I8: Limpid reads F32, F16, BF16, Q4_0 to Q8_0, Q2_K to Q6_K and IQ4_NL"));
}

TEST_F(GgufModels, LayersThatTheFileHasNoTensorsForAreNotBuilt) {
  for (const uint32_t layers : {2147483647U, 10000U, 100U}) {
    GgufBuilder builder;
    builder.text("general.architecture", "llama");
    for (const auto& [key, value] : {std::pair{"block_count", layers},
                                     {"context_length", 8U},
                                     {"embedding_length", 16U},
                                     {"feed_forward_length", 32U},
                                     {"attention.head_count", 2U}})
      builder.integer(std::string("llama.") + key, value);
    builder.tensor("token_embd.weight", {23, 16}, 0, std::string(23 * 16 * 4, '\0'));
    EXPECT_THAT(error(builder), HasSubstr("layers")) << layers;
  }
}

TEST_F(GgufModels, WhatIsNotComputedIsRefused) {
  const SmallModel small = small_model(small_configs().at("llama"));
  GgufBuilder scaled = written(small, DType::f32);
  EXPECT_EQ(error(scaled), "no error");
  scaled.text("llama.rope.scaling.type", "sideways");
  EXPECT_THAT(error(scaled), HasSubstr("sideways"));
  GgufBuilder yarn = written(small, DType::f32);
  yarn.text("llama.rope.scaling.type", "yarn");
  yarn.real("llama.rope.scaling.factor", 4);
  yarn.integer("llama.rope.scaling.original_context_length", 8);
  EXPECT_EQ(error(yarn), "no error");
  EXPECT_EQ(gguf_config(open(yarn)).rope.scaling, RopeScaling::yarn);
  yarn.real("llama.rope.scaling.yarn_beta_fast", 16);
  EXPECT_EQ(gguf_config(open(yarn)).rope.beta_fast, 16);
  yarn.real("llama.rope.scaling.yarn_ext_factor", 16);
  EXPECT_THAT(error(yarn), HasSubstr("yarn_ext_factor"));
  GgufBuilder more = written(small, DType::f32);
  more.tensor("blk.0.attn_sub_norm.weight", {4}, 0, std::string(16, '\0'));
  EXPECT_THAT(error(more), HasSubstr("blk.0.attn_sub_norm.weight"));
  GgufBuilder experts = written(small, DType::f32);
  experts.integer("llama.expert_count", 8);
  EXPECT_THAT(error(experts), HasSubstr("experts"));
  GgufBuilder part = written(small, DType::f32);
  part.integer("llama.rope.dimension_count", 2);
  EXPECT_THAT(error(part), HasSubstr("turns only 2"));
  GgufBuilder family;
  family.text("general.architecture", "mamba");
  EXPECT_THAT(error(family), HasSubstr("mamba"));
  const SmallModel one = one_layer();
  EXPECT_THAT(error(keys(one.model->config())), HasSubstr("a vocabulary, no model"));
  GgufBuilder shape = keys(one.model->config());
  shape.tensor("token_embd.weight", {23, 8}, 0, std::string(23 * 8 * 4, '\0'));
  EXPECT_THAT(error(shape), HasSubstr("has shape [23, 8], its keys ask for [23, 16]"));
  GgufBuilder lacks = keys(one.model->config());
  lacks.tensor("token_embd.weight", {23, 16}, 0, std::string(23 * 16 * 4, '\0'));
  EXPECT_THAT(error(lacks), HasSubstr("has no tensor \"blk.0."));
}

// llama2.c keeps the same numbers kind by kind.
class Llama2cFiles : public GgufModels {
 protected:
  std::string bytes(const SmallModel& small, int version) const {
    const Config& config = small.model->config();
    std::string file;
    if (version > 0) {
      append_raw(file, int32_t{0x616b3432});
      append_raw(file, int32_t{version});
    }
    const auto vocab = static_cast<int32_t>(config.tie_output || version > 0 ? config.vocab : -config.vocab);
    for (const int64_t size : {config.width, config.decoder.ffn, config.decoder.layers, config.decoder.heads,
                               config.decoder.kv_heads, static_cast<int64_t>(vocab), config.max_positions})
      append_raw(file, static_cast<int32_t>(size));
    if (version > 0) {
      file += config.tie_output ? '\1' : '\0';
      file.resize(256);
    }
    const auto add = [&](const std::string& part) {
      for (const Weight& weight : small.parameters->weights()) {
        if (weight.name.find(part) == std::string::npos) continue;
        const real* data = small.parameters->data(weight);
        std::vector<real> numbers(data, data + weight.size());
        if (part == "q_proj" || part == "k_proj") numbers = turned(numbers, weight.shape[0], config.head_size);
        for (const real number : numbers) append_raw(file, static_cast<float>(number));
      }
    };
    const std::vector<std::string> order =
        version == 0 ? std::vector<std::string>{"embed_tokens", "input_layernorm", "q_proj",         "k_proj",
                                                "v_proj",       "o_proj",          "post_attention", "gate_proj",
                                                "down_proj",    "up_proj",         "model.norm"}
                     : std::vector<std::string>{"input_layernorm", "post_attention", "model.norm", "embed_tokens",
                                                "q_proj",          "k_proj",         "v_proj",     "o_proj",
                                                "gate_proj",       "down_proj",      "up_proj"};
    for (const std::string& part : order) add(part);
    if (version == 0) file.append(static_cast<size_t>(config.max_positions * config.head_size * 4), '\0');
    if (!config.tie_output) add("lm_head");
    return file;
  }
  std::string file_error(const std::string& bytes) const {
    write_text(folder_ / "x.bin", bytes);
    try {
      const Llama2cFile file(folder_ / "x.bin");
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(Llama2cFiles, GiveTheScoresOfTheModelThatWasWritten) {
  for (const bool tied : {true, false})
    for (const int version : {0, 1}) {
      Json json = small_configs().at("llama");
      json["tie_word_embeddings"] = tied;
      json["rms_norm_eps"] = 1e-5;
      const SmallModel small = small_model(json);
      write_text(folder_ / "x.bin", bytes(small, version));
      const Llama2cFile file(folder_ / "x.bin");
      const auto model = make_model(file.config());
      WeightHolder holder;
      file.attach(*model, holder);
      const auto a = logits(*small.model, small.batch), b = logits(*model, small.batch);
      ASSERT_EQ(a.size(), b.size());
      for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5) << tied << version << " " << i;
    }
}

TEST_F(Llama2cFiles, WrongFilesAreErrors) {
  const std::string whole = bytes(small_model(small_configs().at("llama")), 0);
  EXPECT_EQ(file_error(whole), "no error");
  for (const size_t size : {size_t{1}, size_t{27}, size_t{28}, size_t{100}, whole.size() - 1})
    EXPECT_THAT(file_error(whole.substr(0, size)), HasSubstr("is it a whole model")) << size;
  EXPECT_THAT(file_error(whole + "1234"), HasSubstr("its sizes ask for"));
  for (const size_t field : {0, 1, 2, 3, 4, 5, 6})
    for (const int32_t wrong : {0, -1, INT32_MAX, 1 << 23}) {
      std::string changed = whole;
      std::memcpy(changed.data() + 4 * field, &wrong, sizeof wrong);
      EXPECT_NE(file_error(changed), "no error") << field << " " << wrong;
    }
}

TEST_F(Llama2cFiles, HeadersCutShortAreErrors) {
  for (const int32_t version : {1, 2})
    for (const size_t size : {8, 35, 36, 37, 40, 41, 255}) {
      std::string header;
      append_raw(header, int32_t{0x616b3432});
      append_raw(header, version);
      for (const int32_t number : {16, 32, 1, 2, 2, 23, 8}) append_raw(header, number);
      header.resize(size, '\1');
      EXPECT_THAT(file_error(header), HasSubstr("ends within its header")) << version << " " << size;
    }
}

TEST_F(Llama2cFiles, TokensAreRead) {
  std::string file;
  append_raw(file, int32_t{6});
  const std::vector<std::pair<std::string, float>> tokens = {{"<unk>", 0}, {"\n<s>\n", 0}, {"\n</s>", 0}, {" ", -4},
                                                             {"a", -5},    {"b", -6},      {"ab", -1},    {" ab", -2}};
  for (const auto& [text, score] : tokens) {
    append_raw(file, score);
    append_raw(file, static_cast<int32_t>(text.size()));
    file += text;
  }
  write_text(folder_ / "tok8.bin", file);
  const auto tokenizer = read_llama2c_tokens(folder_ / "tok8.bin");
  EXPECT_THAT(tokenizer->encode("ab ba"), testing::ElementsAre(7, 3, 5, 4));
  EXPECT_EQ(tokenizer->special().begin, 1);
  EXPECT_EQ(llama2c_tokens_beside(folder_ / "model.bin", 8), folder_ / "tok8.bin");
  EXPECT_EQ(llama2c_tokens_beside(folder_ / "model.bin", 9), "");
  for (const size_t size : {size_t{2}, size_t{6}, file.size() - 1}) {
    write_text(folder_ / "tok8.bin", file.substr(0, size));
    EXPECT_THROW(read_llama2c_tokens(folder_ / "tok8.bin"), Error) << size;
  }
}

}  // namespace
}  // namespace limpid
