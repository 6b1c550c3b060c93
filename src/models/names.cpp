#include "models/names.h"

#include <map>

namespace limpid {
namespace {

// ---- encoder-decoders

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

ModelNames bart() {
  return {.embedding = "model.shared",
          .source_embedding = "model.encoder.embed_tokens",
          .target_embedding = "model.decoder.embed_tokens",
          .positions = "model.{}.embed_positions",
          .embedding_norm = "model.{}.layernorm_embedding",
          .encoder = bart_stack("encoder"),
          .decoder = bart_stack("decoder"),
          .output = "lm_head.weight",
          .output_bias = "final_logits_bias"};
}

StackNames t5_stack(const std::string& side, bool gated) {
  const bool decoder = side == "decoder";
  const std::string last = decoder ? "layer.2." : "layer.1.", attention = "layer.0.SelfAttention.",
                    cross = "layer.1.EncDecAttention.", ffn = last + "DenseReluDense.";
  return {.block = side + ".block.{}.",
          .parts = {.norm_self = "layer.0.layer_norm",
                    .norm_cross = "layer.1.layer_norm",
                    .norm_ffn = last + "layer_norm",
                    .self = {{attention + "q", attention + "k", attention + "v"}, attention + "o"},
                    .cross = {{cross + "q", cross + "k", cross + "v"}, cross + "o"},
                    .ffn = {ffn + (gated ? "wi_1" : "wi"), ffn + "wi_0", ffn + "wo"}},
          .final_norm = side + ".final_layer_norm",
          .relative_bias = side + ".block.0.layer.0.SelfAttention.relative_attention_bias"};
}

ModelNames t5(bool gated) {
  return {.embedding = "shared",
          .source_embedding = "encoder.embed_tokens",
          .target_embedding = "decoder.embed_tokens",
          .encoder = t5_stack("encoder", gated),
          .decoder = t5_stack("decoder", gated),
          .output = "lm_head.weight"};
}

// ---- language models

ModelNames gpt2() {
  return {.embedding = "wte",
          .positions = "wpe",
          .decoder = {.block = "h.{}.",
                      .parts = {.norm_self = "ln_1",
                                .norm_cross = {},
                                .norm_ffn = "ln_2",
                                .self = {{"attn.c_attn"}, "attn.c_proj"},
                                .cross = {},
                                .ffn = {"mlp.c_fc", "mlp.c_gate", "mlp.c_proj"}},
                      .final_norm = "ln_f"},
          .output = "lm_head.weight"};
}

ModelNames llama() {
  return {.embedding = "model.embed_tokens",
          .positions = "model.embed_positions",
          .decoder = {.block = "model.layers.{}.",
                      .parts = {.norm_self = "input_layernorm",
                                .norm_cross = {},
                                .norm_ffn = "post_attention_layernorm",
                                .self = {{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
                                         "self_attn.o_proj",
                                         "self_attn.q_norm",
                                         "self_attn.k_norm"},
                                .cross = {},
                                .ffn = {"mlp.up_proj", "mlp.gate_proj", "mlp.down_proj"}},
                      .final_norm = "model.norm"},
          .output = "lm_head.weight",
          .output_bias = "lm_head.bias"};
}

// Most language models are Llama with a few names changed.
template <class Change>
ModelNames llama_with(Change change) {
  ModelNames names = llama();
  change(names, names.decoder.parts);
  return names;
}

ModelNames qwen_moe() {
  return llama_with([](ModelNames&, BlockNames& parts) {
    parts.experts = {.router = "mlp.gate",
                     .prefix = "mlp.experts.{}.",
                     .matrices = {"up_proj", "gate_proj", "down_proj"},
                     .shared = "mlp.shared_expert.",
                     .shared_gate = "mlp.shared_expert_gate"};
  });
}

// GPT-J, GPT-Neo, BLOOM, Falcon: GPT-2's frame with parts of their own.
ModelNames transformer(const BlockNames& parts) {
  return {.embedding = "transformer.wte",
          .positions = "transformer.wpe",
          .decoder = {.block = "transformer.h.{}.", .parts = parts, .final_norm = "transformer.ln_f"},
          .output = "lm_head.weight",
          .output_bias = "lm_head.bias"};
}

ModelNames bloom(const char* norm_self, const char* norm_ffn) {
  ModelNames names = transformer({.norm_self = norm_self,
                                  .norm_cross = {},
                                  .norm_ffn = norm_ffn,
                                  .self = {{"self_attention.query_key_value"}, "self_attention.dense"},
                                  .cross = {},
                                  .ffn = {"mlp.dense_h_to_4h", "", "mlp.dense_4h_to_h"}});
  names.embedding = "transformer.word_embeddings";
  names.embedding_norm = "transformer.word_embeddings_layernorm";
  return names;
}

ModelNames gpt_neox() {
  ModelNames names = bloom("input_layernorm", "post_attention_layernorm");
  names.embedding = "gpt_neox.embed_in";
  names.decoder.block = "gpt_neox.layers.{}.";
  names.decoder.parts.self = {{"attention.query_key_value"}, "attention.dense"};
  names.decoder.final_norm = "gpt_neox.final_layer_norm";
  names.output = "embed_out.weight";
  return names;
}

ModelNames opt() {
  ModelNames names = bart();
  names.embedding = "model.decoder.embed_tokens";
  names.positions = "model.decoder.embed_positions";
  names.project_in = "model.decoder.project_in";
  names.project_out = "model.decoder.project_out";
  names.decoder.final_norm = "model.decoder.final_layer_norm";
  names.encoder = {};
  return names;
}

// ---- encoders

ModelNames bert(const std::string& base) {
  return {.embedding = base + "embeddings.word_embeddings",
          .positions = base + "embeddings.position_embeddings",
          .segments = base + "embeddings.token_type_embeddings",
          .embedding_norm = base + "embeddings.LayerNorm",
          .encoder = {.block = base + "encoder.layer.{}.",
                      .parts = {.norm_self = "attention.output.LayerNorm",
                                .norm_cross = {},
                                .norm_ffn = "output.LayerNorm",
                                .self = {{"attention.self.query", "attention.self.key", "attention.self.value"},
                                         "attention.output.dense"},
                                .cross = {},
                                .ffn = {"intermediate.dense", "intermediate.gate", "output.dense"}},
                      .final_norm = base + "encoder.final_norm"},
          .output = "cls.predictions.decoder.weight",
          .output_bias = "cls.predictions.bias",
          .head = {.dense = "cls.predictions.transform.dense",
                   .norm = "cls.predictions.transform.LayerNorm",
                   .pooler = base + "pooler.dense",
                   .label_dense = base + "pooler.dense",
                   .label_output = "classifier"}};
}

ModelNames roberta(const std::string& base) {
  ModelNames names = bert(base);
  names.output = "lm_head.decoder.weight";
  names.output_bias = "lm_head.bias";
  names.head = {.dense = "lm_head.dense",
                .norm = "lm_head.layer_norm",
                .pooler = base + "pooler.dense",
                .label_dense = "classifier.dense",
                .label_output = "classifier.out_proj"};
  return names;
}

ModelNames mpnet() {
  ModelNames names = roberta("mpnet.");
  names.encoder.parts.norm_self = "attention.LayerNorm";
  names.encoder.parts.self = {{"attention.attn.q", "attention.attn.k", "attention.attn.v"}, "attention.attn.o"};
  names.encoder.relative_bias = "mpnet.encoder.relative_attention_bias";
  return names;
}

ModelNames distilbert() {
  ModelNames names = bert("distilbert.");
  names.encoder = {.block = "distilbert.transformer.layer.{}.",
                   .parts = {.norm_self = "sa_layer_norm",
                             .norm_cross = {},
                             .norm_ffn = "output_layer_norm",
                             .self = {{"attention.q_lin", "attention.k_lin", "attention.v_lin"}, "attention.out_lin"},
                             .cross = {},
                             .ffn = {"ffn.lin1", "ffn.gate", "ffn.lin2"}},
                   .final_norm = "distilbert.transformer.final_norm"};
  names.output = "vocab_projector.weight";
  names.output_bias = "vocab_projector.bias";
  names.head = {.dense = "vocab_transform",
                .norm = "vocab_layer_norm",
                .label_dense = "pre_classifier",
                .label_output = "classifier"};
  return names;
}

ModelNames modernbert() {
  return {
      .embedding = "model.embeddings.tok_embeddings",
      .embedding_norm = "model.embeddings.norm",
      .encoder = {.block = "model.layers.{}.",
                  .parts = {.norm_self = "attn_norm",
                            .norm_cross = {},
                            .norm_ffn = "mlp_norm",
                            .self = {{"attn.Wqkv"}, "attn.Wo"},
                            .cross = {},
                            .ffn = {.up = {}, .gate = {}, .down = "mlp.Wo", .gate_up = "mlp.Wi"}},
                  .final_norm = "model.final_norm"},
      .output = "decoder.weight",
      .output_bias = "decoder.bias",
      .head = {.dense = "head.dense", .norm = "head.norm", .label_dense = "head.dense", .label_output = "classifier"}};
}

std::map<std::string, ModelNames> make_table() {
  std::map<std::string, ModelNames> table;
  for (const char* type : {"marian", "pegasus", "bart", "mbart", "m2m_100"}) table[type] = bart();
  table["t5"] = t5(false);
  table["t5-gated"] = t5(true);

  table["gpt2"] = gpt2();
  table["llama"] = llama();
  table["gemma2"] = llama_with([](ModelNames&, BlockNames& parts) {
    parts.norm_self_out = "post_attention_layernorm";
    parts.norm_ffn = "pre_feedforward_layernorm";
    parts.norm_ffn_out = "post_feedforward_layernorm";
  });
  table["olmo2"] = llama_with([](ModelNames&, BlockNames& parts) {
    parts.norm_self_out = "post_attention_layernorm";
    parts.norm_ffn_out = "post_feedforward_layernorm";
  });
  table["phi3"] = llama_with([](ModelNames&, BlockNames& parts) {
    parts.self.qkv = {"self_attn.qkv_proj"};
    parts.ffn = {.up = {}, .gate = {}, .down = "mlp.down_proj", .gate_up = "mlp.gate_up_proj"};
  });
  table["phi"] = llama_with([](ModelNames& names, BlockNames& parts) {
    parts.self.output = "self_attn.dense";
    parts.self.q_norm = "self_attn.q_layernorm";
    parts.self.k_norm = "self_attn.k_layernorm";
    parts.ffn = {"mlp.fc1", "", "mlp.fc2"};
    names.decoder.final_norm = "model.final_layernorm";
  });
  table["starcoder2"] = llama_with([](ModelNames&, BlockNames& parts) { parts.ffn = {"mlp.c_fc", "", "mlp.c_proj"}; });
  table["mixtral"] = llama_with([](ModelNames&, BlockNames& parts) {
    parts.experts = {.router = "block_sparse_moe.gate",
                     .prefix = "block_sparse_moe.experts.{}.",
                     .matrices = {"w3", "w1", "w2"},
                     .shared = {},
                     .shared_gate = {}};
  });
  table["qwen_moe"] = qwen_moe();
  table["gptj"] = transformer({.norm_self = "ln_1",
                               .norm_cross = {},
                               .norm_ffn = {},
                               .self = {{"attn.q_proj", "attn.k_proj", "attn.v_proj"}, "attn.out_proj"},
                               .cross = {},
                               .ffn = {"mlp.fc_in", "", "mlp.fc_out"}});
  table["gpt_neo"] = transformer(
      {.norm_self = "ln_1",
       .norm_cross = {},
       .norm_ffn = "ln_2",
       .self = {{"attn.attention.q_proj", "attn.attention.k_proj", "attn.attention.v_proj"}, "attn.attention.out_proj"},
       .cross = {},
       .ffn = {"mlp.c_fc", "", "mlp.c_proj"}});
  table["bloom"] = bloom("input_layernorm", "post_attention_layernorm");
  table["falcon-grouped"] = bloom("ln_attn", "ln_mlp");
  table["gpt_neox"] = gpt_neox();
  table["opt"] = opt();

  table["bert"] = bert("bert.");
  table["roberta"] = roberta("roberta.");
  table["mpnet"] = mpnet();
  table["distilbert"] = distilbert();
  table["modernbert"] = modernbert();
  return table;
}

}  // namespace

BlockNames StackNames::of(int64_t index) const {
  BlockNames names = parts;
  const std::string prefix = fmt::format(fmt::runtime(block), index);
  auto complete = [&](std::string& name) {
    if (!name.empty()) name = prefix + name;
  };
  for (std::string* name :
       {&names.norm_self, &names.norm_cross, &names.norm_ffn, &names.norm_self_out, &names.norm_ffn_out,
        &names.self.output, &names.self.q_norm, &names.self.k_norm, &names.cross.output, &names.ffn.up, &names.ffn.gate,
        &names.ffn.down, &names.ffn.gate_up, &names.experts.router, &names.experts.prefix, &names.experts.shared,
        &names.experts.shared_gate})
    complete(*name);
  for (auto* list : {&names.self.qkv, &names.cross.qkv})
    for (std::string& name : *list) complete(name);
  return names;
}

const ModelNames& names_of(const Config& config) {
  static const std::map<std::string, ModelNames> kTable = make_table();
  const auto found = kTable.find(config.names);
  check(found != kTable.end(), "[model] no table of names for model_type {}", config.model_type);
  return found->second;
}

}  // namespace limpid
