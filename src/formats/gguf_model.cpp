#include "formats/gguf_model.h"

#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "base/error.h"
#include "formats/json.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;

struct Names {
  std::string_view ours, theirs;  // "{}" stands for the number of the block
};

constexpr std::array kLlama = {
    Names{"model.embed_tokens", "token_embd"},
    Names{"model.layers.{}.input_layernorm", "blk.{}.attn_norm"},
    Names{"model.layers.{}.self_attn.q_proj", "blk.{}.attn_q"},
    Names{"model.layers.{}.self_attn.k_proj", "blk.{}.attn_k"},
    Names{"model.layers.{}.self_attn.v_proj", "blk.{}.attn_v"},
    Names{"model.layers.{}.self_attn.o_proj", "blk.{}.attn_output"},
    Names{"model.layers.{}.post_attention_layernorm", "blk.{}.ffn_norm"},
    Names{"model.layers.{}.mlp.gate_proj", "blk.{}.ffn_gate"},
    Names{"model.layers.{}.mlp.up_proj", "blk.{}.ffn_up"},
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

// GGUF's name for one of ours: the number of the block and ".weight" or ".bias" stay.
std::string gguf_name(std::span<const Names> table, std::string_view ours) {
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

// The keys of a file, which begin with the name of its family.
class Keys {
 public:
  Keys(const GgufFile& file, std::string family) : file_(file), family_(std::move(family)) {}

  int64_t size(const std::string& name) const {
    const auto found = file_.whole(key(name));
    check(found.has_value(), "{}: lacks the key {}: is it a whole model?", file_.where(), key(name));
    return *found;
  }
  int64_t size(const std::string& name, int64_t otherwise) const { return file_.whole(key(name)).value_or(otherwise); }
  double decimal(const std::string& name, double otherwise) const {
    // A file keeps floats; the shortest decimal that is this float is the number that was meant.
    const auto found = file_.decimal(key(name));
    return found ? std::stod(fmt::format("{}", static_cast<float>(*found))) : otherwise;
  }
  void refuse(const std::string& name, const char* what) const {
    check(!file_.has(key(name)), "{}: has {} ({}), which Limpid does not compute: take another model", file_.where(),
          what, key(name));
  }
  std::string key(const std::string& name) const { return family_ + "." + name; }

 private:
  const GgufFile& file_;
  std::string family_;
};

int64_t vocabulary_size(const GgufFile& file) {
  const GgufTensor* table = file.tensor("token_embd.weight");
  check(table && table->shape.size() == 2, "{}: has no tensor \"token_embd.weight\": it holds a vocabulary, no model",
        file.where());
  return table->shape[0];
}

void add_special(const GgufFile& file, ordered_json& json) {
  for (const auto& [ours, theirs] : {std::pair{"bos_token_id", "bos_token_id"},
                                     {"eos_token_id", "eos_token_id"},
                                     {"pad_token_id", "padding_token_id"}})
    if (const auto id = file.whole(std::string("tokenizer.ggml.") + theirs)) json[ours] = *id;
}

ordered_json llama_json(const GgufFile& file) {
  const Keys keys(file, "llama");
  for (const auto& [name, what] : {std::pair{"expert_count", "experts"}, {"attention.sliding_window", "a window"}})
    if (keys.size(name, 0) != 0) keys.refuse(name, what);
  const std::string scaling = file.text(keys.key("rope.scaling.type")).value_or("none");
  check(scaling == "none" && !file.tensor("rope_freqs.weight"),
        "{}: stretches its rotary positions ({}), which Limpid does not compute: take another model", file.where(),
        scaling == "none" ? "rope_freqs.weight" : scaling);
  const int64_t width = keys.size("embedding_length"), heads = keys.size("attention.head_count");
  check(heads >= 1, "{}: {} is {}: damaged?", file.where(), keys.key("attention.head_count"), heads);
  const int64_t head = keys.size("attention.key_length", width / heads);
  check(keys.size("rope.dimension_count", head) == head,
        "{}: turns only {} of a head's {} numbers by position, which Limpid does not compute: take another model",
        file.where(), keys.size("rope.dimension_count", head), head);
  ordered_json json = {{"model_type", "llama"},
                       {"vocab_size", vocabulary_size(file)},
                       {"hidden_size", width},
                       {"intermediate_size", keys.size("feed_forward_length")},
                       {"num_hidden_layers", keys.size("block_count")},
                       {"num_attention_heads", heads},
                       {"num_key_value_heads", keys.size("attention.head_count_kv", heads)},
                       {"max_position_embeddings", keys.size("context_length")},
                       {"rms_norm_eps", keys.decimal("attention.layer_norm_rms_epsilon", 1e-5)},
                       {"rope_theta", keys.decimal("rope.freq_base", 10000)},
                       {"attention_bias", file.tensor("blk.0.attn_q.bias") != nullptr},
                       {"tie_word_embeddings", file.tensor("output.weight") == nullptr}};
  if (head * heads != width) json["head_dim"] = head;
  return json;
}

ordered_json gpt2_json(const GgufFile& file) {
  const Keys keys(file, "gpt2");
  const int64_t width = keys.size("embedding_length");
  return {{"model_type", "gpt2"},
          {"vocab_size", vocabulary_size(file)},
          {"n_embd", width},
          {"n_inner", keys.size("feed_forward_length", 4 * width)},
          {"n_layer", keys.size("block_count")},
          {"n_head", keys.size("attention.head_count")},
          {"n_positions", keys.size("context_length")},
          {"layer_norm_epsilon", keys.decimal("attention.layer_norm_epsilon", 1e-5)},
          {"tie_word_embeddings", file.tensor("output.weight") == nullptr}};
}

bool is_turned(const std::string& name) {
  return name.find(".q_proj.") != std::string::npos || name.find(".k_proj.") != std::string::npos;
}

// Rows are brought into our order as they are stored: no row is split by the blocks of a type.
void attach_turned(const GgufTensor& tensor, int64_t head_size, Weight& weight, WeightHolder& holder,
                   const std::string& where) {
  const auto type = number_type_named(tensor.type ? tensor.type->name : "");
  const int64_t rows = weight.shape[0], row = weight.size() / rows;
  if (type && weight.is_matrix())
    return copy_adjacent_pairs(tensor.bytes.data(), rows, row * bytes_of(*type), head_size, holder.make(weight, *type));
  std::vector<real> theirs(static_cast<size_t>(weight.size()));
  read_gguf_reals(tensor, theirs.data(), where);
  copy_adjacent_pairs(reinterpret_cast<const std::byte*>(theirs.data()), rows, row * static_cast<int64_t>(sizeof(real)),
                      head_size, holder.make(weight, kRealType));
}

}  // namespace

Config gguf_config(const GgufFile& file) {
  const std::string family = file.text("general.architecture").value_or("");
  check(family == "llama" || family == "gpt2", "{}: holds a model of the family {}: Limpid reads llama and gpt2",
        file.where(), in_quotes(family));
  ordered_json json = family == "llama" ? llama_json(file) : gpt2_json(file);
  add_special(file, json);
  Config config = parse_config(json);
  config.layout = WeightLayout::out_in;  // GGUF turns GPT-2's matrices
  return config;
}

void attach_gguf(const GgufFile& file, Model& model, WeightHolder& holder) {
  const Config& config = model.config();
  const bool llama = config.model_type == "llama";
  const std::span<const Names> table = llama ? std::span<const Names>(kLlama) : std::span<const Names>(kGpt2);
  model.visit_parameters([&](Weight& weight) {
    const std::string name = gguf_name(table, weight.name);
    const GgufTensor* tensor = file.tensor(name);
    check(tensor != nullptr, "{}: has no tensor {}: is it a whole model of its family?", file.where(), in_quotes(name));
    check(tensor->shape == weight.shape, "{}: tensor {} has shape [{}], its keys ask for [{}]: damaged?", file.where(),
          in_quotes(name), fmt::join(tensor->shape, ", "), fmt::join(weight.shape, ", "));
    if (llama && is_turned(weight.name)) return attach_turned(*tensor, config.head_size, weight, holder, file.where());
    const auto type = number_type_named(tensor->type ? tensor->type->name : "");
    if (type) return holder.point(weight, *type, tensor->bytes.data());
    read_gguf_reals(*tensor, holder.make_reals(weight), file.where());
  });
}

}  // namespace limpid
