#include "formats/llama2c_writer.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "text/sentencepiece_info.h"
#include "text/storable_tokenizer.h"

namespace limpid {
namespace {

template <class T>
void put(AtomicFile& file, const T& value) {
  file.write(std::as_bytes(std::span(&value, 1)));
}

void put_reals(AtomicFile& file, const real* numbers, int64_t count) {
  if constexpr (std::is_same_v<real, float>) {
    file.write(std::as_bytes(std::span(numbers, static_cast<size_t>(count))));
  } else {
    for (int64_t i = 0; i < count; ++i) put(file, static_cast<float>(numbers[i]));
  }
}

}  // namespace

std::string why_no_llama2c(const Config& config) {
  if (config.model_type != "llama" || config.only_limpid) return "llama2.c runs models of the Llama family only";
  if (config.attention_bias || config.attention_output_bias || config.ffn_bias)
    return "it has biases, which llama2.c does not know";
  if (config.head_size * config.decoder.heads != config.width) return "its heads have a width of their own";
  if (config.activation != Activation::silu) return "its activation is another than SiLU";
  if (config.rope.theta != 10000 || config.rope.scaling != RopeScaling::none)
    return "its rotary positions turn at another speed (rope_theta, rope_scaling)";
  return {};
}

void write_llama2c(const std::filesystem::path& path, Model& model) {
  const Config& config = model.config();
  const std::string reason = why_no_llama2c(config);
  check(reason.empty(), "[llama2.c] this model cannot be a file of llama2.c: {}", reason);
  std::map<std::string, const Weight*> weights;
  model.visit_parameters([&](Weight& weight) { weights[weight.name] = &weight; });
  AtomicFile file(path);
  const StackConfig& stack = config.decoder;
  for (const int64_t size : {config.width, stack.ffn, stack.layers, stack.heads, stack.kv_heads,
                             config.tie_output ? config.vocab : -config.vocab, config.max_positions})
    put(file, static_cast<int32_t>(size));
  const auto add = [&](const std::string& name) {
    const Weight& weight = *weights.at(name);
    put_reals(file, weight.numbers(), weight.size());
  };
  // Numbers 2i and 2i + 1 of a head are turned together there; ours are i and i + half.
  const auto add_turned = [&](const std::string& name) {
    const Weight& weight = *weights.at(name);
    const int64_t rows = weight.shape[0], cols = weight.shape[1], head = config.head_size;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t in_head = row % head, ours = row - in_head + in_head / 2 + (in_head % 2) * (head / 2);
      put_reals(file, weight.numbers() + ours * cols, cols);
    }
  };
  const auto each_layer = [&](const char* name, bool turned = false) {
    for (int64_t layer = 0; layer < stack.layers; ++layer) {
      const std::string full = fmt::format("model.layers.{}.{}.weight", layer, name);
      turned ? add_turned(full) : add(full);
    }
  };
  add("model.embed_tokens.weight");
  each_layer("input_layernorm");
  each_layer("self_attn.q_proj", true);
  each_layer("self_attn.k_proj", true);
  each_layer("self_attn.v_proj");
  each_layer("self_attn.o_proj");
  each_layer("post_attention_layernorm");
  each_layer("mlp.gate_proj");
  each_layer("mlp.down_proj");
  each_layer("mlp.up_proj");
  add("model.norm.weight");
  const std::vector<float> unused(static_cast<size_t>(config.max_positions * config.head_size));
  file.write(std::as_bytes(std::span(unused)));  // sines and cosines, which nobody reads any more
  if (!config.tie_output) add("lm_head.weight");
  file.commit();
}

void write_llama2c_tokens(const std::filesystem::path& path, const Tokenizer& tokenizer) {
  const auto* storable = dynamic_cast<const StorableTokenizer*>(&tokenizer);
  const std::string_view model = storable ? storable->sentencepiece_model() : std::string_view();
  check(!model.empty(), "[llama2.c] its tokenizer is not of SentencePiece's kind, which llama2.c needs");
  const auto pieces = sentencepiece_pieces(model, "[llama2.c] tokenizer");
  check(std::ssize(pieces) == tokenizer.size() && tokenizer.special().begin == 1 && tokenizer.special().end == 2,
        "[llama2.c] its tokens have other ids than llama2.c expects (<unk> 0, <s> 1, </s> 2)");
  std::vector<std::string> texts;
  for (size_t id = 0; id < pieces.size(); ++id) {
    std::string text;
    std::string_view rest = pieces[id].text;
    while (!rest.empty()) {
      const size_t mark = rest.find("\u2581");
      text += rest.substr(0, mark);
      if (mark == std::string_view::npos) break;
      text += ' ';
      rest.remove_prefix(mark + std::string_view("\u2581").size());
    }
    if (id == 1 || id == 2) text = '\n' + text + '\n';
    texts.push_back(std::move(text));
  }
  size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  AtomicFile file(path);
  put(file, static_cast<int32_t>(longest));
  for (size_t id = 0; id < texts.size(); ++id) {
    put(file, pieces[id].score);
    put(file, static_cast<int32_t>(texts[id].size()));
    file.write(texts[id]);
  }
  file.commit();
}

}  // namespace limpid
