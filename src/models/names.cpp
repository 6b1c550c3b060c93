#include "models/names.h"

#include <map>

namespace limpid {
namespace {

StackNames bart_stack(const std::string& side) {
  return {
      .block = "model." + side + ".layers.{}.",
      .parts = {.norm_self = "self_attn_layer_norm",
                .norm_cross = "encoder_attn_layer_norm",
                .norm_ffn = "final_layer_norm",
                .self = {{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}, "self_attn.out_proj"},
                .cross = {{"encoder_attn.q_proj", "encoder_attn.k_proj", "encoder_attn.v_proj"},
                          "encoder_attn.out_proj"},
                .ffn = {"fc1", "fc_gate", "fc2"}},
      .final_norm = "model." + side + ".layer_norm",
  };
}

const ModelNames kMarian = {
    .embedding = "model.shared",
    .source_embedding = "model.encoder.embed_tokens",
    .target_embedding = "model.decoder.embed_tokens",
    .positions = "model.{}.embed_positions",
    .encoder = bart_stack("encoder"),
    .decoder = bart_stack("decoder"),
    .output = "lm_head.weight",
    .output_bias = "final_logits_bias",
};

const ModelNames kGpt2 = {
    .embedding = "wte",
    .positions = "wpe",
    .decoder = {.block = "h.{}.",
                .parts = {.norm_self = "ln_1",
                          .norm_ffn = "ln_2",
                          .self = {{"attn.c_attn"}, "attn.c_proj"},
                          .ffn = {"mlp.c_fc", "mlp.c_gate", "mlp.c_proj"}},
                .final_norm = "ln_f"},
    .output = "lm_head.weight",
};

const ModelNames kLlama = {
    .embedding = "model.embed_tokens",
    .positions = "model.embed_positions",
    .decoder = {.block = "model.layers.{}.",
                .parts = {.norm_self = "input_layernorm",
                          .norm_ffn = "post_attention_layernorm",
                          .self = {{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}, "self_attn.o_proj"},
                          .ffn = {"mlp.up_proj", "mlp.gate_proj", "mlp.down_proj"}},
                .final_norm = "model.norm"},
    .output = "lm_head.weight",
};

const ModelNames kBert = {
    .embedding = "bert.embeddings.word_embeddings",
    .positions = "bert.embeddings.position_embeddings",
    .segments = "bert.embeddings.token_type_embeddings",
    .embedding_norm = "bert.embeddings.LayerNorm",
    .encoder = {.block = "bert.encoder.layer.{}.",
                .parts = {.norm_self = "attention.output.LayerNorm",
                          .norm_ffn = "output.LayerNorm",
                          .self = {{"attention.self.query", "attention.self.key", "attention.self.value"},
                                   "attention.output.dense"},
                          .ffn = {"intermediate.dense", "intermediate.gate", "output.dense"}},
                .final_norm = "bert.encoder.final_norm"},
    .output = "cls.predictions.decoder.weight",
    .output_bias = "cls.predictions.bias",
};

}  // namespace

BlockNames StackNames::of(int64_t index) const {
  BlockNames names = parts;
  const std::string prefix = fmt::format(fmt::runtime(block), index);
  auto complete = [&](std::string& name) {
    if (!name.empty()) name = prefix + name;
  };
  for (std::string* name : {&names.norm_self, &names.norm_cross, &names.norm_ffn, &names.self.output,
                            &names.cross.output, &names.ffn.up, &names.ffn.gate, &names.ffn.down})
    complete(*name);
  for (auto* list : {&names.self.qkv, &names.cross.qkv})
    for (std::string& name : *list) complete(name);
  return names;
}

const ModelNames& names_of(const std::string& model_type) {
  static const std::map<std::string, const ModelNames*> kNames = {
      {"marian", &kMarian}, {"pegasus", &kMarian}, {"gpt2", &kGpt2}, {"llama", &kLlama}, {"bert", &kBert}};
  const auto found = kNames.find(model_type);
  check(found != kNames.end(), "[model] no table of names for model_type {}", model_type);
  return *found->second;
}

}  // namespace limpid
