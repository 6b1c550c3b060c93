#include "formats/gguf_export.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "formats/gguf_names.h"

namespace limpid {
namespace {

// What the family's config can vary in and GGUF's cannot.
std::string unusual_part(const Config& config) {
  if (config.only_limpid) return "it is a variant that only Limpid knows";
  const bool llama = config.model_type == "llama";
  if (config.activation != (llama ? Activation::silu : Activation::gelu_tanh)) return "its activation is another";
  if (config.rope.scaling != RopeScaling::none) return "its rotary positions are stretched";
  if (config.scale_by_layer) return "its scores are scaled by layer";
  if (!config.scale_scores) return "its scores are not divided by the root of the head's size";
  if (llama && config.ffn_bias) return "its feed-forward network has biases";
  return {};
}

void add_sizes(GgufWriter& writer, const Config& config) {
  const std::string family = config.model_type;
  const auto size = [&](const char* name, int64_t value) {
    writer.whole(family + "." + name, static_cast<uint32_t>(value));
  };
  size("context_length", config.max_positions);
  size("embedding_length", config.width);
  size("block_count", config.decoder.layers);
  size("feed_forward_length", config.decoder.ffn);
  size("attention.head_count", config.decoder.heads);
  size("vocab_size", config.vocab);
  const auto eps = static_cast<float>(config.norm_eps);
  if (family == "gpt2") return writer.decimal("gpt2.attention.layer_norm_epsilon", eps);
  size("attention.head_count_kv", config.decoder.kv_heads);
  size("attention.key_length", config.head_size);
  size("attention.value_length", config.head_size);
  size("rope.dimension_count", config.head_size);
  writer.decimal("llama.attention.layer_norm_rms_epsilon", eps);
  writer.decimal("llama.rope.freq_base", static_cast<float>(config.rope.theta));
}

// What llama.cpp calls the file as a whole: by the type that most numbers have.
uint32_t file_type(Model& model) {
  std::map<DType, int64_t> counts;
  model.visit_parameters([&](Weight& weight) { counts[weight.type] += weight.size(); });
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](auto& a, auto& b) { return a.second < b.second; });
  switch (most->first) {
    case DType::f16: return 1;
    case DType::q4_0: return 2;
    case DType::q8_0: return 7;
    case DType::bf16: return 32;
    default: return 0;
  }
}

// GGUF's row i of a head's queries or keys is this row of ours: adjacent_pair_row, the other way round.
int64_t our_row(int64_t row, int64_t head_size) {
  const int64_t in_head = row % head_size;
  return row - in_head + in_head / 2 + (in_head % 2) * (head_size / 2);
}

}  // namespace

std::string why_no_gguf(const Config& config, const Tokenizers& tokenizers) {
  if (config.model_type != "llama" && config.model_type != "gpt2") return "GGUF here is for Llama and GPT-2 families";
  if (std::string part = unusual_part(config); !part.empty()) return part;
  try {
    GgufWriter trial;
    add_gguf_tokenizer(trial, tokenizers, config.vocab);
  } catch (const Error& error) {
    return std::string(error.what()).substr(std::string_view("[gguf] ").size());
  }
  return {};
}

void write_gguf(const std::filesystem::path& path, Model& model, const Tokenizers& tokenizers,
                const std::string& name) {
  const Config& config = model.config();
  const std::string reason = why_no_gguf(config, tokenizers);
  check(reason.empty(), "[gguf] this model cannot be a GGUF file: {}: write a folder instead", reason);
  GgufWriter writer;
  writer.text("general.architecture", config.model_type);
  writer.text("general.name", name);
  writer.whole("general.file_type", file_type(model));
  writer.whole("general.quantization_version", 2);
  add_sizes(writer, config);
  add_gguf_tokenizer(writer, tokenizers, config.vocab);
  model.visit_parameters([&](Weight& weight) {
    GgufTensorToWrite tensor{.name = gguf_name(config, weight.name),
                             .type = weight.type,
                             .shape = weight.shape,
                             .data = static_cast<const std::byte*>(weight.data)};
    if (is_permuted_in_gguf(config, weight.name))
      tensor.row_at = [head = config.head_size](int64_t row) { return our_row(row, head); };
    writer.tensor(std::move(tensor));
  });
  writer.write(path);
}

}  // namespace limpid
