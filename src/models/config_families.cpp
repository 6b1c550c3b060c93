// The families of config.json, and what their readers share.

#include "base/error.h"
#include "models/config_family.h"

namespace limpid {

int64_t share(const Named& width, const Named& heads, std::string_view hint) {
  check(width.value % heads.value == 0, "[config] {} {} does not divide {} {}: every head takes an equal part of it{}",
        heads.key, heads.value, width.key, width.value, hint);
  return width.value / heads.value;
}

void read_tokens(ConfigReader& reader, Config& config, const TokenDefaults& defaults) {
  // Some files name tokens that the model has no vector for, often those of its class; nothing is computed from them.
  const auto read = [&](std::string_view key, std::optional<int64_t> usual) {
    const auto* id = reader.find(key);
    if (!id || !id->is_number_unsigned() || *id < config.vocab) return reader.token(key, config.vocab, usual);
    config.notes.push_back(fmt::format("{} {} is ignored: the vocabulary ends before it", key, shown(*id)));
    return std::optional<int64_t>();
  };
  config.pad_token = read("pad_token_id", defaults.pad);
  config.bos_token = read("bos_token_id", defaults.bos);
  config.eos_token = read("eos_token_id", defaults.eos);
}

void read_windows(ConfigReader& reader, Config& config, int64_t window,
                  const std::function<bool(int64_t)>& has_window) {
  const int64_t layers = config.stack().layers;
  check(layers <= kMostLayers, "[config] the model has {} layers: allowed are {}", layers, kMostLayers);
  config.layers.resize(layers);
  const auto* types = reader.find("layer_types");
  if (types && (!types->is_array() || std::ssize(*types) != layers))
    reader.wrong("layer_types", *types, fmt::format("a list of {} texts, one for each layer", layers));
  for (int64_t i = 0; i < layers; ++i) {
    bool local = has_window(i);
    if (types) {
      local = types->at(i) == "sliding_attention";
      if (!local && types->at(i) != "full_attention")
        reader.wrong("layer_types", types->at(i), "\"full_attention\" or \"sliding_attention\"");
    }
    if (!local) continue;
    if (window == 0) reader.missing("sliding_window", "how many tokens layers of \"sliding_attention\" see");
    config.layers[i].window = window;
    if (config.local_rope.theta > 0) config.layers[i].rope = LayerConfig::Rope::local;
  }
}

ConfigReader::Names<Activation> activation_names() {
  return {{"relu", Activation::relu},
          {"gelu", Activation::gelu},
          {"gelu_python", Activation::gelu},
          {"gelu_new", Activation::gelu_tanh},
          {"gelu_pytorch_tanh", Activation::gelu_tanh},
          {"gelu_fast", Activation::gelu_tanh},
          {"gelu_accurate", Activation::gelu_tanh},
          {"quick_gelu", Activation::quick_gelu},
          {"silu", Activation::silu},
          {"swish", Activation::silu},
          {"tanh", Activation::tanh},
          {"linear", Activation::none}};
}

std::vector<std::string_view> known_model_types() {
  std::vector<std::string_view> types;
  for (const auto& [type, read] : all_readers()) types.push_back(type);
  return types;
}

FamilyReaders all_readers() {
  FamilyReaders all;
  for (const FamilyReaders& some : {encoder_readers(), gpt_readers(), llama_readers(), translator_readers()})
    all.insert(all.end(), some.begin(), some.end());
  all.emplace_back("rnn_seq2seq", read_rnn);
  return all;
}

void read_family(ConfigReader& reader, Config& config) {
  const ReadFamily read = reader.choice("model_type", all_readers());
  config.model_type = config.names = reader.find("model_type")->get<std::string>();
  config.vocab = reader.size("vocab_size");
  read(reader, config);
}

}  // namespace limpid
