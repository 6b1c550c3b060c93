#include "formats/gguf_names.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <vector>

#include "base/error.h"
#include "formats/gguf_facts.h"

namespace limpid {
namespace {

struct Names {
  std::string_view ours, theirs;  // "{}" stands for the number of the block
};

constexpr std::array kLlama = {
    Names{"model.embed_tokens", "token_embd"},
    Names{"model.layers.{}.input_layernorm", "blk.{}.attn_norm"},
    Names{"model.layers.{}.self_attn.q_proj", "blk.{}.attn_q"},
    Names{"model.layers.{}.self_attn.k_proj", "blk.{}.attn_k"},
    Names{"model.layers.{}.self_attn.v_proj", "blk.{}.attn_v"},
    Names{"model.layers.{}.self_attn.qkv_proj", "blk.{}.attn_qkv"},
    Names{"model.layers.{}.self_attn.q_norm", "blk.{}.attn_q_norm"},
    Names{"model.layers.{}.self_attn.k_norm", "blk.{}.attn_k_norm"},
    Names{"model.layers.{}.self_attn.o_proj", "blk.{}.attn_output"},
    Names{"model.layers.{}.post_attention_layernorm", "blk.{}.ffn_norm"},
    Names{"model.layers.{}.mlp.gate_proj", "blk.{}.ffn_gate"},
    Names{"model.layers.{}.mlp.up_proj", "blk.{}.ffn_up"},
    Names{"model.layers.{}.mlp.gate_up_proj", "blk.{}.ffn_up"},
    Names{"model.layers.{}.mlp.down_proj", "blk.{}.ffn_down"},
    Names{"model.norm", "output_norm"},
    Names{"lm_head", "output"},
};

// What Gemma 2 and 3 have besides or elsewhere.
constexpr std::array kGemma2 = {
    Names{"model.layers.{}.post_attention_layernorm", "blk.{}.post_attention_norm"},
    Names{"model.layers.{}.pre_feedforward_layernorm", "blk.{}.ffn_norm"},
    Names{"model.layers.{}.post_feedforward_layernorm", "blk.{}.post_ffw_norm"},
};

constexpr std::array kGpt2 = {
    Names{"wte", "token_embd"},
    Names{"wpe", "position_embd"},
    Names{"h.{}.ln_1", "blk.{}.attn_norm"},
    Names{"h.{}.attn.c_attn", "blk.{}.attn_qkv"},
    Names{"h.{}.attn.c_proj", "blk.{}.attn_output"},
    Names{"h.{}.ln_2", "blk.{}.ffn_norm"},
    Names{"h.{}.mlp.c_fc", "blk.{}.ffn_up"},
    Names{"h.{}.mlp.c_proj", "blk.{}.ffn_down"},
    Names{"ln_f", "output_norm"},
    Names{"lm_head", "output"},
};

constexpr std::array kGptNeox = {
    Names{"gpt_neox.embed_in", "token_embd"},
    Names{"gpt_neox.layers.{}.input_layernorm", "blk.{}.attn_norm"},
    Names{"gpt_neox.layers.{}.attention.query_key_value", "blk.{}.attn_qkv"},
    Names{"gpt_neox.layers.{}.attention.dense", "blk.{}.attn_output"},
    Names{"gpt_neox.layers.{}.post_attention_layernorm", "blk.{}.ffn_norm"},
    Names{"gpt_neox.layers.{}.mlp.dense_h_to_4h", "blk.{}.ffn_up"},
    Names{"gpt_neox.layers.{}.mlp.dense_4h_to_h", "blk.{}.ffn_down"},
    Names{"gpt_neox.final_layer_norm", "output_norm"},
    Names{"embed_out", "output"},
};

constexpr std::array kBert = {
    Names{"bert.embeddings.word_embeddings", "token_embd"},
    Names{"bert.embeddings.position_embeddings", "position_embd"},
    Names{"bert.embeddings.token_type_embeddings", "token_types"},
    Names{"bert.embeddings.LayerNorm", "token_embd_norm"},
    Names{"bert.encoder.layer.{}.attention.self.query", "blk.{}.attn_q"},
    Names{"bert.encoder.layer.{}.attention.self.key", "blk.{}.attn_k"},
    Names{"bert.encoder.layer.{}.attention.self.value", "blk.{}.attn_v"},
    Names{"bert.encoder.layer.{}.attention.output.dense", "blk.{}.attn_output"},
    Names{"bert.encoder.layer.{}.attention.output.LayerNorm", "blk.{}.attn_output_norm"},
    Names{"bert.encoder.layer.{}.intermediate.dense", "blk.{}.ffn_up"},
    Names{"bert.encoder.layer.{}.output.dense", "blk.{}.ffn_down"},
    Names{"bert.encoder.layer.{}.output.LayerNorm", "blk.{}.layer_output_norm"},
    Names{"bert.pooler.dense", ""},
};

constexpr std::array kT5 = {
    Names{"shared", "token_embd"},
    Names{"encoder.block.{}.layer.0.layer_norm", "enc.blk.{}.attn_norm"},
    Names{"encoder.block.{}.layer.0.SelfAttention.q", "enc.blk.{}.attn_q"},
    Names{"encoder.block.{}.layer.0.SelfAttention.k", "enc.blk.{}.attn_k"},
    Names{"encoder.block.{}.layer.0.SelfAttention.v", "enc.blk.{}.attn_v"},
    Names{"encoder.block.{}.layer.0.SelfAttention.o", "enc.blk.{}.attn_o"},
    Names{"encoder.block.{}.layer.0.SelfAttention.relative_attention_bias", "enc.blk.{}.attn_rel_b"},
    Names{"encoder.block.{}.layer.1.layer_norm", "enc.blk.{}.ffn_norm"},
    Names{"encoder.block.{}.layer.1.DenseReluDense.wi", "enc.blk.{}.ffn_up"},
    Names{"encoder.block.{}.layer.1.DenseReluDense.wi_0", "enc.blk.{}.ffn_gate"},
    Names{"encoder.block.{}.layer.1.DenseReluDense.wi_1", "enc.blk.{}.ffn_up"},
    Names{"encoder.block.{}.layer.1.DenseReluDense.wo", "enc.blk.{}.ffn_down"},
    Names{"encoder.final_layer_norm", "enc.output_norm"},
    Names{"decoder.block.{}.layer.0.layer_norm", "dec.blk.{}.attn_norm"},
    Names{"decoder.block.{}.layer.0.SelfAttention.q", "dec.blk.{}.attn_q"},
    Names{"decoder.block.{}.layer.0.SelfAttention.k", "dec.blk.{}.attn_k"},
    Names{"decoder.block.{}.layer.0.SelfAttention.v", "dec.blk.{}.attn_v"},
    Names{"decoder.block.{}.layer.0.SelfAttention.o", "dec.blk.{}.attn_o"},
    Names{"decoder.block.{}.layer.0.SelfAttention.relative_attention_bias", "dec.blk.{}.attn_rel_b"},
    Names{"decoder.block.{}.layer.1.layer_norm", "dec.blk.{}.cross_attn_norm"},
    Names{"decoder.block.{}.layer.1.EncDecAttention.q", "dec.blk.{}.cross_attn_q"},
    Names{"decoder.block.{}.layer.1.EncDecAttention.k", "dec.blk.{}.cross_attn_k"},
    Names{"decoder.block.{}.layer.1.EncDecAttention.v", "dec.blk.{}.cross_attn_v"},
    Names{"decoder.block.{}.layer.1.EncDecAttention.o", "dec.blk.{}.cross_attn_o"},
    Names{"decoder.block.{}.layer.2.layer_norm", "dec.blk.{}.ffn_norm"},
    Names{"decoder.block.{}.layer.2.DenseReluDense.wi", "dec.blk.{}.ffn_up"},
    Names{"decoder.block.{}.layer.2.DenseReluDense.wi_0", "dec.blk.{}.ffn_gate"},
    Names{"decoder.block.{}.layer.2.DenseReluDense.wi_1", "dec.blk.{}.ffn_up"},
    Names{"decoder.block.{}.layer.2.DenseReluDense.wo", "dec.blk.{}.ffn_down"},
    Names{"decoder.final_layer_norm", "dec.output_norm"},
    Names{"lm_head", "output"},
};

// The tables to look into, one after another.
std::vector<std::span<const Names>> tables_of(std::string_view architecture) {
  if (architecture == "gemma2" || architecture == "gemma3") return {kGemma2, kLlama};
  if (architecture == "gpt2") return {kGpt2};
  if (architecture == "gptneox") return {kGptNeox};
  if (architecture == "bert") return {kBert};
  if (architecture == "t5") return {kT5};
  return {kLlama};
}

}  // namespace

std::string gguf_name(const Config& config, std::string_view ours) {
  const size_t dot = ours.rfind('.');
  const std::string_view suffix = ours.substr(dot);
  std::string name(ours.substr(0, dot)), number;
  const size_t begin = name.find_first_of("0123456789");
  if (begin != std::string::npos && begin > 0 && name[begin - 1] == '.') {
    const size_t end = name.find('.', begin);
    number = name.substr(begin, end - begin);
    name.replace(begin, number.size(), "{}");
  }
  for (const std::span<const Names> table : tables_of(gguf_architecture(config.model_type)))
    for (const Names& row : table)
      if (row.ours == name)
        return row.theirs.empty() ? "" : fmt::format(fmt::runtime(row.theirs), number) + std::string(suffix);
  fail("[gguf] no name for {}: models with it are not kept in GGUF; take a folder", ours);
}

bool is_permuted_in_gguf(const Config& config, std::string_view ours) {
  return gguf_architecture(config.model_type) == "llama" &&
         (ours.find(".q_proj.") != std::string_view::npos || ours.find(".k_proj.") != std::string_view::npos);
}

}  // namespace limpid
