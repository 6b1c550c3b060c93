#include "formats/gguf_model.h"

#include <fmt/ranges.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/json.h"
#include "formats/gguf_names.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;

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

// Divisors of the frequencies of rotary positions, which files keep as a tensor.
std::vector<double> frequency_factors(const GgufFile& file, const char* name) {
  const GgufTensor* tensor = file.tensor(name);
  if (!tensor) return {};
  check(tensor->type && tensor->type->name == "F32" && tensor->shape.size() == 1,
        "{}: tensor {} is no list of F32: damaged?", file.where(), in_quotes(name));
  std::vector<double> scales;
  for (int64_t i = 0; i < tensor->shape[0]; ++i) {
    float factor = 0;
    std::memcpy(&factor, tensor->bytes.data() + i * static_cast<int64_t>(sizeof factor), sizeof factor);
    check(std::isfinite(factor) && factor > 0, "{}: tensor {} holds {}: damaged?", file.where(), in_quotes(name),
          factor);
    scales.push_back(static_cast<double>(factor));
  }
  return scales;
}

// What stretches rotary positions, as Hugging Face's config says it; frequencies of Llama 3 come later.
void add_rope_scaling(const GgufFile& file, const Keys& keys, ordered_json& json) {
  const std::string scaling = file.text(keys.key("rope.scaling.type")).value_or("none");
  if (scaling == "linear") {
    json["rope_scaling"] = {{"rope_type", "linear"}, {"factor", keys.decimal("rope.scaling.factor", 1)}};
    return;
  }
  const auto longer = frequency_factors(file, "rope_factors_long.weight");
  check(scaling == "none" || !longer.empty(),
        "{}: stretches its rotary positions ({}), which Limpid does not compute: take another model", file.where(),
        scaling);
  if (longer.empty()) return;
  json["original_max_position_embeddings"] =
      keys.size("rope.scaling.original_context_length", keys.size("context_length"));
  json["rope_scaling"] = {{"rope_type", "longrope"},
                          {"short_factor", frequency_factors(file, "rope_factors_short.weight")},
                          {"long_factor", longer}};
}

// Llama and what is made like it: qwen2, qwen3, phi3.
ordered_json llama_json(const GgufFile& file, const std::string& family) {
  const Keys keys(file, family);
  if (keys.size("expert_count", 0) != 0) keys.refuse("expert_count", "experts");
  if (family != "phi3" && keys.size("attention.sliding_window", 0) != 0)
    keys.refuse("attention.sliding_window", "a window");
  const int64_t width = keys.size("embedding_length"), heads = keys.size("attention.head_count");
  check(heads >= 1, "{}: {} is {}: damaged?", file.where(), keys.key("attention.head_count"), heads);
  const int64_t head = keys.size("attention.key_length", width / heads);
  check(keys.size("rope.dimension_count", head) == head,
        "{}: turns only {} of a head's {} numbers by position, which Limpid does not compute: take another model",
        file.where(), keys.size("rope.dimension_count", head), head);
  ordered_json json = {{"model_type", family},
                       {"vocab_size", vocabulary_size(file)},
                       {"hidden_size", width},
                       {"intermediate_size", keys.size("feed_forward_length")},
                       {"num_hidden_layers", keys.size("block_count")},
                       {"num_attention_heads", heads},
                       {"num_key_value_heads", keys.size("attention.head_count_kv", heads)},
                       {"max_position_embeddings", keys.size("context_length")},
                       {"rms_norm_eps", keys.decimal("attention.layer_norm_rms_epsilon", 1e-5)},
                       {"rope_theta", keys.decimal("rope.freq_base", 10000)},
                       {"tie_word_embeddings", file.tensor("output.weight") == nullptr}};
  if (family == "llama") json["attention_bias"] = file.tensor("blk.0.attn_q.bias") != nullptr;
  if (head * heads != width || family == "qwen3") json["head_dim"] = head;
  if (const int64_t window = keys.size("attention.sliding_window", 0); window > 0) json["sliding_window"] = window;
  add_rope_scaling(file, keys, json);
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

DType type_of(const GgufTensor& tensor, const std::string& where) {
  const std::string_view name = tensor.type ? tensor.type->name : "";
  const auto type = number_type_named(name);
  check(type.has_value(),
        "{}: tensor {} holds numbers of type {}: Limpid reads F32, F16, BF16, Q4_0 to Q8_0 and Q2_K to Q6_K", where,
        in_quotes(tensor.name), name.empty() ? std::to_string(tensor.type_id) : std::string(name));
  return *type;
}

// Rows are brought into our order as they are stored: no row is split by the blocks of a type.
void attach_turned(const GgufTensor& tensor, DType type, int64_t head_size, Weight& weight, WeightHolder& holder) {
  const int64_t rows = weight.shape[0], row = weight.size() / rows;
  if (weight.is_matrix())
    return copy_adjacent_pairs(tensor.bytes.data(), rows, bytes_of(type, row), head_size, holder.make(weight, type));
  holder.point(weight, type, tensor.bytes.data());  // a vector: as reals
  const std::vector<real> theirs(weight.numbers(), weight.numbers() + weight.size());
  copy_adjacent_pairs(reinterpret_cast<const std::byte*>(theirs.data()), rows, row * static_cast<int64_t>(sizeof(real)),
                      head_size, holder.make(weight, kRealType));
}

}  // namespace

Config gguf_config(const GgufFile& file) {
  const std::string family = file.text("general.architecture").value_or("");
  const bool like_llama = family == "llama" || family == "qwen2" || family == "qwen3" || family == "phi3";
  check(like_llama || family == "gpt2",
        "{}: holds a model of the family {}: Limpid reads llama, qwen2, qwen3, phi3 and gpt2", file.where(),
        in_quotes(family));
  ordered_json json = like_llama ? llama_json(file, family) : gpt2_json(file);
  add_special(file, json);
  Config config = parse_config(json);
  check(config.decoder.layers <= static_cast<int64_t>(file.tensors().size()),
        "{}: says it has {} layers, but holds {} tensors: damaged?", file.where(), config.decoder.layers,
        file.tensors().size());
  config.layout = WeightLayout::out_in;  // GGUF turns GPT-2's matrices
  if (const auto scales = frequency_factors(file, "rope_freqs.weight"); !scales.empty()) {  // Llama 3
    check(std::ssize(scales) == config.rope.turned(config.head_size) / 2,
          "{}: rope_freqs.weight has {} numbers for heads of {}: damaged?", file.where(), scales.size(),
          config.head_size);
    config.rope.scaling = RopeScaling::longrope;
    config.rope.short_factors = config.rope.long_factors = scales;
    config.rope.original_positions = static_cast<double>(config.max_positions);
  }
  return config;
}

void attach_gguf(const GgufFile& file, Model& model, WeightHolder& holder) {
  const Config& config = model.config();
  model.visit_parameters([&](Weight& weight) {
    const std::string name = gguf_name(config, weight.name);
    const GgufTensor* tensor = file.tensor(name);
    check(tensor != nullptr, "{}: has no tensor {}: is it a whole model of its family?", file.where(), in_quotes(name));
    check(tensor->shape == weight.shape, "{}: tensor {} has shape [{}], its keys ask for [{}]: damaged?", file.where(),
          in_quotes(name), fmt::join(tensor->shape, ", "), fmt::join(weight.shape, ", "));
    const DType type = type_of(*tensor, file.where());
    if (is_permuted_in_gguf(config, weight.name)) return attach_turned(*tensor, type, config.head_size, weight, holder);
    holder.point(weight, type, tensor->bytes.data());
  });
}

}  // namespace limpid
