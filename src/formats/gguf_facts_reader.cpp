// The keys of a GGUF file.

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/json.h"
#include "formats/gguf_facts.h"

namespace limpid {
namespace {

// Keys begin with the name of their architecture.
class Keys {
 public:
  Keys(const GgufFile& file, std::string architecture) : file_(file), architecture_(std::move(architecture)) {}

  int64_t size(const std::string& name) const {
    const auto found = file_.integer(key(name));
    check(found.has_value(), "{}: lacks the key {}: is it a whole model?", file_.where(), [&] { return key(name); });
    return *found;
  }
  int64_t size(const std::string& name, int64_t otherwise) const {
    return file_.integer(key(name)).value_or(otherwise);
  }
  double real(const std::string& name, double otherwise) const {
    // A file keeps floats; the shortest decimal that is this float is the number that was meant.
    const auto found = file_.real(key(name));
    return found ? std::stod(fmt::format("{}", static_cast<float>(*found))) : otherwise;
  }
  void refuse(const std::string& name, const char* what) const {
    check(!file_.has(key(name)), "{}: has {} ({}), which Limpid does not compute: take another model", file_.where(),
          what, [&] { return key(name); });
  }
  std::string key(const std::string& name) const { return architecture_ + "." + name; }

 private:
  const GgufFile& file_;
  std::string architecture_;
};

const GgufTensor& word_table(const GgufFile& file) {
  const GgufTensor* table = file.tensor("token_embd.weight");
  check(table && table->shape.size() == 2, "{}: has no tensor \"token_embd.weight\": it holds a vocabulary, no model",
        file.where());
  return *table;
}

// Divisors of the frequencies of rotary positions, which files keep as a tensor.
std::vector<double> frequency_factors(const GgufFile& file, const char* name, int64_t count) {
  const GgufTensor* tensor = file.tensor(name);
  if (!tensor) return {};
  check(tensor->type && tensor->type->name == "F32" && tensor->shape == std::vector{count},
        "{}: tensor {} is no list of {} numbers of type F32: damaged?", file.where(), in_quotes(name), count);
  std::vector<double> factors;
  for (int64_t i = 0; i < count; ++i) {
    float factor = 0;
    std::memcpy(&factor, tensor->bytes.data() + i * static_cast<int64_t>(sizeof factor), sizeof factor);
    check(std::isfinite(factor) && factor > 0, "{}: tensor {} holds {}: damaged?", file.where(), in_quotes(name),
          factor);
    factors.push_back(static_cast<double>(factor));
  }
  return factors;
}

void read_rope(const GgufFile& file, const Keys& keys, GgufFacts& facts) {
  facts.theta = keys.real("rope.freq_base", 10000);
  facts.local_theta = keys.real("rope.freq_base_swa", 10000);
  facts.turned = keys.size("rope.dimension_count", facts.head_size);
  const bool partly = facts.architecture == "phi3" || facts.architecture == "gptneox";
  check(facts.turned == facts.head_size || (partly && facts.turned >= 2 && facts.turned < facts.head_size),
        "{}: turns only {} of a head's {} numbers by position, which Limpid does not compute: take another model",
        file.where(), facts.turned, facts.head_size);
  facts.frequency_divisors = frequency_factors(file, "rope_freqs.weight", facts.turned / 2);
  facts.long_factors = frequency_factors(file, "rope_factors_long.weight", facts.turned / 2);
  facts.short_factors = frequency_factors(file, "rope_factors_short.weight", facts.turned / 2);
  const std::string scaling = file.text(keys.key("rope.scaling.type")).value_or("none");
  if (scaling == "linear") {
    facts.linear = keys.real("rope.scaling.factor", 1);
    return;
  }
  if (scaling == "yarn") facts.yarn = keys.real("rope.scaling.factor", 1);
  check(scaling == "none" || scaling == "yarn" || !facts.long_factors.empty(),
        "{}: stretches its rotary positions ({}), which Limpid does not compute: take another model", file.where(),
        scaling);
  facts.beta_fast = keys.real("rope.scaling.yarn_beta_fast", facts.beta_fast);
  facts.beta_slow = keys.real("rope.scaling.yarn_beta_slow", facts.beta_slow);
  for (const char* key : {"ext_factor", "attn_factor", "log_multiplier"})
    keys.refuse(std::string("rope.scaling.yarn_") + key, "rotary positions stretched in a way of its own");
  if (facts.yarn != 1 || !facts.long_factors.empty())
    facts.original_positions = keys.size("rope.scaling.original_context_length", facts.positions);
}

void read_windows(const Keys& keys, GgufFacts& facts) {
  const std::string& name = facts.architecture;
  const bool known = name == "phi3" || name == "gemma2" || name == "gemma3";
  facts.window = keys.size("attention.sliding_window", name == "gemma2" ? 4096 : 0);
  if (!known && facts.window != 0) keys.refuse("attention.sliding_window", "a window");
  facts.window_period = keys.size("attention.sliding_window_pattern", name == "gemma2" ? 2 : name == "gemma3" ? 6 : 0);
  if (name == "gemma2" && facts.window_period != 2)
    keys.refuse("attention.sliding_window_pattern", "windows in other layers than every second");
}

}  // namespace

GgufFacts gguf_facts(const GgufFile& file) {
  const std::string architecture = file.text("general.architecture").value_or("");
  check(!model_type_of(architecture).empty(),
        "{}: holds a model of the family {}: Limpid reads llama, qwen2, qwen3, phi3, gemma, gemma2, gemma3, gpt2, "
        "gptneox, bert and t5",
        file.where(), in_quotes(architecture));
  const Keys keys(file, architecture);
  if (keys.size("expert_count", 0) != 0) keys.refuse("expert_count", "experts");
  GgufFacts facts{.architecture = architecture};
  facts.vocab = word_table(file).shape[0];
  facts.width = keys.size("embedding_length");
  facts.layers = keys.size("block_count");
  facts.decoder_layers = keys.size("decoder_block_count", facts.layers);
  facts.ffn =
      architecture == "gpt2" ? keys.size("feed_forward_length", 4 * facts.width) : keys.size("feed_forward_length");
  facts.heads = keys.size("attention.head_count");
  check(
      facts.heads >= 1, "{}: {} is {}: damaged?", file.where(), [&] { return keys.key("attention.head_count"); },
      facts.heads);
  facts.kv_heads = keys.size("attention.head_count_kv", facts.heads);
  facts.head_size = keys.size("attention.key_length", facts.width / facts.heads);
  facts.positions = keys.size("context_length");
  const bool rms = file.has(keys.key("attention.layer_norm_rms_epsilon"));
  facts.norm_eps = keys.real(rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon", 1e-5);
  facts.tied = file.tensor("output.weight") == nullptr;
  facts.attention_bias = file.tensor("blk.0.attn_q.bias") != nullptr;
  facts.ffn_bias = file.tensor("blk.0.ffn_gate.bias") != nullptr;
  facts.gated = file.tensor("enc.blk.0.ffn_gate.weight") != nullptr;
  facts.parallel = file.flag(keys.key("use_parallel_residual")).value_or(true);
  if (const GgufTensor* types = file.tensor("token_types.weight"); types && types->shape.size() == 2)
    facts.token_types = types->shape[0];
  facts.buckets = keys.size("attention.relative_buckets_count", 32);
  facts.start_token = keys.size("decoder_start_token_id", 0);
  facts.attention_cap = keys.real("attn_logit_softcapping", architecture == "gemma2" ? 50 : 0);
  facts.logit_cap = keys.real("final_logit_softcapping", architecture == "gemma2" ? 30 : 0);
  if (architecture != "gpt2" && architecture != "bert" && architecture != "t5") read_rope(file, keys, facts);
  read_windows(keys, facts);
  return facts;
}

}  // namespace limpid
