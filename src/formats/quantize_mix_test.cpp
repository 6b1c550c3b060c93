#include "formats/quantize_mix.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "formats/model_folder.h"
#include "formats/quantize.h"
#include "formats/quantized_folder.h"
#include "models/small_models.h"
#include "tensor/block_types.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

Json wide_llama(int64_t layers, int64_t width = 256) {
  Json json = small_configs().at("llama");
  json.merge_patch({{"num_hidden_layers", layers}, {"hidden_size", width}, {"intermediate_size", 256}});
  return json;
}

// Types by name.
std::map<std::string, std::string> types_of(const Json& json, std::string_view mix) {
  const auto model = make_model(parse_config(json));
  const std::vector<DType> types = mixed_types(*model, mix);
  std::map<std::string, std::string> result;
  size_t next = 0;
  model->visit_parameters([&](Weight& weight) { result[weight.name] = name_of(types.at(next++)); });
  return result;
}

std::string layer(int64_t i, const char* part) { return fmt::format("model.layers.{}.{}.weight", i, part); }

TEST(QuantizeMix, ValuesAndTheWayBackGetMoreBits) {
  const auto types = types_of(wide_llama(16), "Q4_K_M");
  EXPECT_EQ(types.at("lm_head.weight"), "Q6_K");
  EXPECT_EQ(types.at("model.embed_tokens.weight"), "Q4_K");
  EXPECT_EQ(types.at("model.norm.weight"), "F32");
  // The first and the last two of sixteen, and every third from the second on between.
  for (int64_t i = 0; i < 16; ++i) {
    const std::string wanted = i < 2 || i >= 14 || (i - 2) % 3 == 2 ? "Q6_K" : "Q4_K";
    EXPECT_EQ(types.at(layer(i, "self_attn.v_proj")), wanted) << i;
    EXPECT_EQ(types.at(layer(i, "mlp.down_proj")), wanted) << i;
    for (const char* part :
         {"self_attn.q_proj", "self_attn.k_proj", "self_attn.o_proj", "mlp.up_proj", "mlp.gate_proj"})
      EXPECT_EQ(types.at(layer(i, part)), "Q4_K") << i << part;
  }
}

TEST(QuantizeMix, TheWordsOfAnEncoderCountAsItsOutput) {  // with a head that others do not store, and without
  Json json = small_configs().at("bert");
  json.merge_patch({{"hidden_size", 256}, {"num_attention_heads", 4}, {"intermediate_size", 256}});
  for (const char* of_class : {"BertModel", "BertForMaskedLM", "BertForSequenceClassification"}) {
    json["architectures"] = {of_class};
    std::map<std::string, std::string> words;
    for (const auto& [name, type] : types_of(json, "Q4_K_M"))
      if (name.ends_with("word_embeddings.weight")) words[name] = type;
    ASSERT_EQ(words.size(), 1U) << of_class;
    EXPECT_EQ(words.begin()->second, "Q6_K") << of_class;
  }
}

TEST(QuantizeMix, SmallerMixes) {
  const auto two = types_of(wide_llama(16), "Q2_K");  // two queries look at each key
  EXPECT_EQ(two.at(layer(3, "self_attn.v_proj")), "Q3_K");
  EXPECT_EQ(two.at(layer(3, "self_attn.o_proj")), "Q3_K");
  EXPECT_EQ(two.at(layer(3, "mlp.down_proj")), "Q3_K");
  EXPECT_EQ(two.at(layer(3, "mlp.up_proj")), "Q2_K");
  const auto three = types_of(wide_llama(16), "Q3_K_M");
  EXPECT_EQ(three.at(layer(1, "self_attn.v_proj")), "Q5_K");
  EXPECT_EQ(three.at(layer(2, "self_attn.v_proj")), "Q4_K");
  EXPECT_EQ(three.at(layer(0, "mlp.down_proj")), "Q5_K");
  EXPECT_EQ(three.at(layer(1, "mlp.down_proj")), "Q4_K");
  const auto small = types_of(wide_llama(16), "Q4_K_S");
  EXPECT_EQ(small.at(layer(3, "self_attn.v_proj")), "Q5_K");
  EXPECT_EQ(small.at(layer(4, "self_attn.v_proj")), "Q4_K");
  EXPECT_EQ(small.at(layer(1, "mlp.down_proj")), "Q5_K");
  EXPECT_EQ(small.at(layer(2, "mlp.down_proj")), "Q4_K");
}

TEST(QuantizeMix, RowsThatNoBlockFillsFallBack) {
  const auto at = [](std::string_view mix) { return types_of(wide_llama(2, 96), mix); };
  EXPECT_EQ(at("Q4_K_S").at(layer(0, "mlp.up_proj")), "Q5_0");
  EXPECT_EQ(at("Q5_K_S").at(layer(0, "mlp.up_proj")), "Q5_1");
  EXPECT_EQ(at("Q6_K").at(layer(0, "mlp.up_proj")), "Q8_0");
  EXPECT_EQ(at("Q2_K").at(layer(0, "mlp.up_proj")), "Q4_0");
  EXPECT_EQ(at("Q4_0").at(layer(0, "mlp.up_proj")), "Q4_0");
  EXPECT_EQ(at("Q4_K_S").at("lm_head.weight"), "Q8_0");
  EXPECT_EQ(at("Q4_K_S").at(layer(1, "mlp.down_proj")), "Q4_K");  // its inputs are 256
  EXPECT_EQ(types_of(wide_llama(2, 40), "Q4_K_S").at(layer(0, "mlp.up_proj")), "F16");
}

TEST(QuantizeMix, ATiedEmbeddingIsAnOutput) {
  Json json = wide_llama(2);
  json["tie_word_embeddings"] = true;
  EXPECT_EQ(types_of(json, "Q4_K_M").at("model.embed_tokens.weight"), "Q6_K");
  EXPECT_EQ(types_of(json, "Q8_0").at("model.embed_tokens.weight"), "Q8_0");
}

TEST(QuantizeMix, OneMatrixForQueryKeyAndValueCountsAsValues) {
  Json json = small_configs().at("gpt2");
  json.merge_patch({{"n_embd", 768}, {"n_layer", 8}});
  const auto types = types_of(json, "Q4_K_M");
  EXPECT_EQ(types.at("h.0.attn.c_attn.weight"), "Q6_K");
  EXPECT_EQ(types.at("h.1.attn.c_attn.weight"), "Q4_K");
  EXPECT_EQ(types.at("wpe.weight"), "F32");
}

TEST(QuantizeMix, UnknownNamesAreRefused) { EXPECT_THROW(types_of(wide_llama(1), "Q7_K"), Error); }

std::vector<real> logits(const Model& model, const Batch& batch) {
  limpid::Run run({});
  const Tensor y = model.logits(run, batch);
  return {y.values().data, y.values().data + y.values().size()};
}

// Every family keeps its types in a folder, those that have the same number of bytes too.
TEST(QuantizeMix, FoldersComeBack) {
  TemporaryFolder folder;
  Json marian = small_configs().at("marian");
  marian.merge_patch({{"d_model", 96}, {"encoder_ffn_dim", 256}, {"decoder_ffn_dim", 256}});
  for (const Json& json : {wide_llama(2), marian})
    for (const std::string mix : {"Q4_K_M", "Q5_K_S", "Q3_K_M"}) {
      SCOPED_TRACE(json["model_type"].get<std::string>() + " " + mix);
      const SmallModel small = small_model(json);
      const QuantizedModel quantized = quantize(*small.model, {.mix = mix});
      const auto path = folder.path() / (json["model_type"].get<std::string>() + mix);
      write_quantized_folder(path, *quantized.model, {.mix = mix});
      const auto model = make_model(load_config(path.string()));
      const MappedWeights weights(path, *model);
      EXPECT_EQ(logits(*model, small.batch), logits(*quantized.model, small.batch));
    }
}

// Which experts a token takes is decided by numbers that no type has rounded.
TEST(QuantizeMix, RoutersStayAsTheyAre) {
  for (const std::string name : {"mixtral", "qwen2_moe", "qwen3_moe"}) {
    Json json = small_configs().at(name);
    json.merge_patch({{"hidden_size", 64}});
    int64_t routers = 0;
    for (const auto& [weight, type] : types_of(json, "Q4_K_M"))
      if (weight.ends_with("mlp.gate.weight") || weight.ends_with("block_sparse_moe.gate.weight")) {
        ++routers;
        EXPECT_EQ(type, "F32") << weight;
      }
    EXPECT_EQ(routers, 2) << name;
  }
}

}  // namespace
}  // namespace limpid
