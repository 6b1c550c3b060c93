#include "inference/sentence_settings.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/paths.h"
#include "formats/safetensors_folder.h"
#include "text/normalizer.h"
#include "text/utf8.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string text_of(const json& object, const char* key) {
  return object.is_object() && object.contains(key) && object.at(key).is_string() ? object.at(key).get<std::string>()
                                                                                  : std::string();
}

bool is_on(const json& object, const char* key) {
  return object.contains(key) && object.at(key).is_boolean() && object.at(key).get<bool>();
}

// Several ways of pooling give one vector after another, in this order.
void read_pooling(const fs::path& file, SentenceSettings& settings) {
  const json config = read_json(file);
  const std::pair<const char*, Pooling> modes[] = {{"pooling_mode_cls_token", Pooling::first},
                                                   {"pooling_mode_max_tokens", Pooling::largest},
                                                   {"pooling_mode_mean_tokens", Pooling::mean},
                                                   {"pooling_mode_mean_sqrt_len_tokens", Pooling::root_mean},
                                                   {"pooling_mode_weightedmean_tokens", Pooling::weighted},
                                                   {"pooling_mode_lasttoken", Pooling::last}};
  const std::pair<const char*, Pooling> words[] = {{"cls", Pooling::first},
                                                   {"mean", Pooling::mean},
                                                   {"max", Pooling::largest},
                                                   {"mean_sqrt_len_tokens", Pooling::root_mean},
                                                   {"weightedmean", Pooling::weighted},
                                                   {"lasttoken", Pooling::last}};
  // A word says it all; without one the mean is among them unless it is said not to be.
  std::vector<Pooling> chosen;
  if (const std::string mode = lower_case(text_of(config, "pooling_mode")); !mode.empty()) {
    for (const auto& [word, pooling] : words)
      if (mode == word) chosen.push_back(pooling);
  } else {
    for (const auto& [key, pooling] : modes)
      if (is_on(config, key) || (pooling == Pooling::mean && !config.contains(key))) chosen.push_back(pooling);
  }
  check(!chosen.empty(), "[embed] {}: names no way of pooling that Limpid knows", file);
  settings.embedding.pooling = chosen[0];
  settings.embedding.further.assign(chosen.begin() + 1, chosen.end());
  settings.pools_prompt = !config.contains("include_prompt") || config.at("include_prompt") != false;
}

DenseLayer read_dense(const fs::path& folder) {
  const json config = read_json(folder / "config.json");
  check(path_exists(folder / "model.safetensors"),
        "[embed] {}: has no model.safetensors: save the model with a newer release of sentence-transformers", folder);
  const SafetensorsFolder files(folder);
  const SafetensorsEntry& weight = files.get("linear.weight");
  check(weight.shape.size() == 2, "[embed] {}: linear.weight is no matrix", folder);
  DenseLayer layer{.outputs = weight.shape[0], .inputs = weight.shape[1]};
  layer.weight.resize(weight.count());
  read_reals(weight, layer.weight.data());
  if (const SafetensorsEntry* bias = files.find("linear.bias")) {
    check(bias->count() == layer.outputs, "[embed] {}: linear.bias does not fit linear.weight", folder);
    layer.bias.resize(bias->count());
    read_reals(files.get("linear.bias"), layer.bias.data());
  }
  const std::string activation = text_of(config, "activation_function");
  const std::pair<std::string_view, Activation> known[] = {{"Tanh", Activation::tanh},
                                                           {"ReLU", Activation::relu},
                                                           {"GELU", Activation::gelu},
                                                           {"SiLU", Activation::silu},
                                                           {"Identity", Activation::none}};
  const std::string name = activation.substr(activation.rfind('.') + 1);
  const auto found =
      std::find_if(std::begin(known), std::end(known), [&](const auto& one) { return one.first == name; });
  check(found != std::end(known) || name.empty(),
        "[embed] {}: activation_function is {}: Limpid computes Tanh, ReLU, GELU, SiLU and Identity", folder,
        activation);
  if (!name.empty()) layer.activation = found->second;
  return layer;
}

// The longest text that an object names; 0: it names none, or a number that stands for none.
int64_t longest_of(const json& object, const char* key) {
  constexpr double kNone = 1e9;
  const bool named = object.is_object() && object.contains(key) && object.at(key).is_number();
  const double longest = named ? object.at(key).get<double>() : 0;
  return longest >= 1 && longest < kNone ? static_cast<int64_t>(longest) : 0;
}

// sentence_bert_config.json beside the model that it is about, under the name that the release gave it; what it does
// not say of the longest text the tokenizer may.
void read_transformer(const fs::path& folder, SentenceSettings& settings) {
  for (const char* model : {"bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"}) {
    const fs::path file = folder / fmt::format("sentence_{}_config.json", model);
    if (!path_exists(file)) continue;
    const json config = read_json(file);
    settings.max_tokens = longest_of(config, "max_seq_length");
    settings.lowercase = config.is_object() && is_on(config, "do_lower_case");
    break;
  }
  const fs::path tokenizer = folder / "tokenizer_config.json";
  if (settings.strips && settings.max_tokens == 0 && path_exists(tokenizer))
    settings.max_tokens = longest_of(read_json(tokenizer), "model_max_length");
}

// Calls body(type, its last name, path) for every module, in order.
void each_module(const fs::path& folder,
                 const std::function<void(const std::string&, const std::string&, const fs::path&)>& body) {
  const json modules = read_json(folder / "modules.json");
  check(modules.is_array(), "[embed] {}: is no list", [&] { return (folder / "modules.json").string(); });
  for (const json& module : modules) {
    const std::string type = text_of(module, "type");
    const fs::path inside = text_of(module, "path");
    check(
        inside.is_relative() && std::find(inside.begin(), inside.end(), "..") == inside.end(),
        "[embed] {}: the module {} lies outside of the model's folder: {}",
        [&] { return (folder / "modules.json").string(); }, type, inside);
    body(type, type.substr(type.rfind('.') + 1), inside.empty() ? folder : folder / inside);
  }
}

void read_modules(const fs::path& folder, SentenceSettings& settings) {
  const auto list = [&] { return (folder / "modules.json").string(); };
  each_module(folder, [&](const std::string& type, const std::string& name, const fs::path& path) {
    if (name == "Pooling")
      read_pooling(path / "config.json", settings);
    else if (name == "Normalize")
      settings.embedding.normalize = true;
    else if (name == "Dense")
      settings.embedding.dense.push_back(read_dense(path));
    else
      check(name == "Transformer" || name == "Dropout", "[embed] {}: has a module {}, which Limpid does not compute",
            list, type);
    check(name != "Dense" || !settings.embedding.normalize,
          "[embed] {}: has a dense layer behind Normalize: Limpid normalises at last", list);
    if (name == "Transformer") read_transformer(path, settings);
  });
}

}  // namespace

std::string SentenceSettings::prompt(const std::string& name) const {
  const std::string& wanted = name.empty() ? default_prompt : name;
  if (wanted.empty()) return {};
  std::vector<std::string_view> names;
  for (const auto& [known, text] : prompts) names.emplace_back(known);
  const auto found = prompts.find(wanted);
  check(found != prompts.end(), "[embed] the model has no prompt \"{}\"{}", wanted,
        [&] { return did_you_mean(wanted, names); });
  return found->second;
}

std::string SentenceSettings::prepared(std::string text) const {
  if (strips) text = Normalizer({{"type", "Strip"}}, "[embed]").apply(repaired_utf8(std::move(text)));
  return lowercase ? lower_case(text) : text;
}

fs::path transformer_folder(const fs::path& folder) {
  fs::path result = folder;
  if (path_exists(folder / "config.json") || !path_exists(folder / "modules.json")) return result;
  each_module(folder, [&](const std::string&, const std::string& name, const fs::path& path) {
    if (name == "Transformer") result = path;
  });
  return result;
}

SentenceSettings read_sentence_settings(const fs::path& folder) {
  SentenceSettings settings;
  settings.strips = path_exists(folder / "modules.json");
  read_transformer(folder, settings);
  if (settings.strips) read_modules(folder, settings);
  if (path_exists(folder / "config_sentence_transformers.json")) {
    const json config = read_json(folder / "config_sentence_transformers.json");
    settings.default_prompt = text_of(config, "default_prompt_name");
    if (config.is_object() && config.contains("prompts") && config.at("prompts").is_object())
      for (const auto& [name, text] : config.at("prompts").items())
        if (text.is_string()) settings.prompts[name] = text.get<std::string>();
  }
  return settings;
}

}  // namespace limpid
