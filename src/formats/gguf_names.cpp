#include "formats/gguf_names.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "base/error.h"

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

}  // namespace

std::string gguf_name(const Config& config, std::string_view ours) {
  const std::span<const Names> table =
      config.model_type != "gpt2" ? std::span<const Names>(kLlama) : std::span<const Names>(kGpt2);
  const size_t dot = ours.rfind('.');
  const std::string_view suffix = ours.substr(dot);
  std::string name(ours.substr(0, dot)), number;
  const size_t begin = name.find_first_of("0123456789");
  if (begin != std::string::npos && begin > 0 && name[begin - 1] == '.') {
    const size_t end = name.find('.', begin);
    number = name.substr(begin, end - begin);
    name.replace(begin, number.size(), "{}");
  }
  for (const Names& row : table)
    if (row.ours == name) return fmt::format(fmt::runtime(row.theirs), number) + std::string(suffix);
  fail("[gguf] no name for {}: models with it are not kept in GGUF; take a folder", ours);
}

GgufSupport gguf_support(std::string_view model_type) {
  const bool known = model_type == "llama" || model_type == "gpt2";
  return {.in = known, .out = known};
}

bool is_permuted_in_gguf(const Config& config, std::string_view ours) {
  return config.model_type == "llama" &&
         (ours.find(".q_proj.") != std::string_view::npos || ours.find(".k_proj.") != std::string_view::npos);
}

}  // namespace limpid
