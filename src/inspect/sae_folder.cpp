// SAELens' folder: cfg.json, sae_weights.safetensors and sparsity.safetensors.

#include "base/error.h"
#include "base/file.h"
#include "base/folder_aside.h"
#include "base/json.h"
#include "formats/safetensors.h"
#include "formats/safetensors_writer.h"
#include "inspect/sae.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char *kConfigFile = "cfg.json", *kWeightFile = "sae_weights.safetensors",
                     *kDensityFile = "sparsity.safetensors";

Json config_json(const LoadedSae& sae) {
  const SaeConfig& config = sae.sae->config();
  Json json = {{"architecture", config.kind == SaeKind::topk ? "topk" : "standard"},
               {"d_in", config.inputs},
               {"d_sae", config.features},
               {"dtype", "float32"},
               {"device", "cpu"},
               {"apply_b_dec_to_input", true},
               {"normalize_activations", "none"},
               {"reshape_activations", "none"}};
  // The version is that of the layout: without one SAELens takes a folder for an older one and drops the names.
  json["metadata"] = {{"sae_lens_version", "6.0.0"}, {"model_name", config.model}, {"hook_name", config.hook}};
  if (config.kind == SaeKind::topk) {
    json["k"] = config.k;
    json["rescale_acts_by_decoder_norm"] = false;
  }
  json["limpid"] = {{"tap", config.tap}};
  if (!sae.about.is_null()) json["limpid"]["about"] = sae.about;
  return json;
}

int64_t number_of(const nlohmann::json& json, const char* key, const std::string& where) {
  check(json.contains(key) && json[key].is_number_integer() && json[key].get<int64_t>() > 0,
        "[sae] {}: \"{}\" is missing or no whole number above zero: is this a folder of SAELens?", where, key);
  return json[key].get<int64_t>();
}

std::string text_of(const nlohmann::json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

SaeConfig read_config(const nlohmann::json& json, const std::string& where) {
  SaeConfig config{.inputs = number_of(json, "d_in", where), .features = number_of(json, "d_sae", where)};
  const std::string kind = text_of(json, "architecture");
  check(kind == "standard" || kind == "topk" || kind.empty(),
        "[sae] {}: the architecture \"{}\" is not known here: \"standard\" and \"topk\" are", where, kind);
  config.kind = kind == "topk" ? SaeKind::topk : SaeKind::relu;
  if (config.kind == SaeKind::topk) config.k = number_of(json, "k", where);
  // What changes the mathematics must be what we compute.
  const auto must_be = [&](const char* key, const nlohmann::json& value) {
    if (!json.contains(key)) return;
    check(
        json[key] == value, "[sae] {}: \"{}\" is {}: only {} is supported", where, key,
        [&] { return json[key].dump(); }, [&] { return value.dump(); });
  };
  must_be("apply_b_dec_to_input", true);
  must_be("normalize_activations", "none");
  must_be("rescale_acts_by_decoder_norm", false);
  const nlohmann::json& metadata = json.contains("metadata") ? json["metadata"] : json;
  config.model = text_of(metadata, "model_name");
  config.hook = text_of(metadata, "hook_name");
  config.tap = json.contains("limpid") ? text_of(json["limpid"], "tap") : config.hook;
  return config;
}

bool holds_sae(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kConfigFile, error) && fs::exists(folder / kWeightFile, error);
}

}  // namespace

void check_sae_folder(const fs::path& folder) {
  std::error_code error;
  check(!fs::exists(folder, error) || holds_sae(folder) || fs::is_empty(folder, error),
        "[sae] {}: exists and holds no autoencoder: name a new folder", folder);
}

void write_sae(const fs::path& folder, const LoadedSae& sae) {
  check_sae_folder(folder);
  FolderAside aside(folder);
  std::vector<TensorToWrite> tensors;
  for (const Weight& weight : sae.parameters->weights())
    tensors.push_back({.name = weight.name, .shape = weight.shape, .reals = sae.parameters->data() + weight.offset});
  write_safetensors(aside.path() / kWeightFile, tensors);
  if (!sae.log_density.empty()) {
    const TensorToWrite density{
        .name = "sparsity", .shape = {static_cast<int64_t>(sae.log_density.size())}, .reals = sae.log_density.data()};
    write_safetensors(aside.path() / kDensityFile, {&density, 1});
  }
  write_text(aside.path() / kConfigFile, config_json(sae).dump(2) + "\n");
  aside.put_in_place();
}

LoadedSae read_sae(const fs::path& folder) {
  const std::string where = (folder / kConfigFile).string();
  const nlohmann::json json = read_json(folder / kConfigFile);
  check(json.is_object(), "[sae] {}: no object", where);
  const SaeConfig config = read_config(json, where);
  const SafetensorsFile file(folder / kWeightFile);
  const auto check_shape = [&](const std::string& name, const std::vector<int64_t>& shape) {
    check(file.get(name).shape == shape, "[sae] {}: {} has another shape than {} says: do they belong together?",
          file.path(), name, where);
  };
  check_shape("W_enc", {config.inputs, config.features});  // before memory is asked for
  LoadedSae loaded = make_sae(config);
  for (const Weight& weight : loaded.parameters->weights()) {
    check_shape(weight.name, weight.shape);
    read_reals(file.get(weight.name), loaded.parameters->data(weight));
  }
  std::error_code error;
  if (fs::exists(folder / kDensityFile, error)) {
    const SafetensorsFile density(folder / kDensityFile);
    const SafetensorsEntry& entry = density.get("sparsity");
    loaded.log_density.resize(static_cast<size_t>(entry.count()));
    read_reals(entry, loaded.log_density.data());
  }
  if (json.contains("limpid") && json["limpid"].contains("about")) loaded.about = json["limpid"]["about"];
  return loaded;
}

}  // namespace limpid
