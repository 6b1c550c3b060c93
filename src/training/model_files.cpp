#include "training/model_files.h"

#include "autograd/probe.h"
#include "base/error.h"
#include "base/file.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

Json generation_config(const Recipe& recipe, const Config& config) {
  Json file = Json::object();
  const auto set = [&](const char* key, const std::optional<int64_t>& id) {
    if (id) file[key] = *id;
  };
  set("pad_token_id", config.pad_token);
  set("bos_token_id", config.bos_token);
  set("eos_token_id", config.eos_token);
  set("decoder_start_token_id", config.decoder_start_token);
  if (task_of(recipe) != Task::translation) return file;
  file["num_beams"] = recipe.decode.beam;
  file["length_penalty"] = recipe.decode.length_penalty;
  if (config.pad_token) file["bad_words_ids"] = {{*config.pad_token}};
  return file;
}

}  // namespace

void write_model_files(const std::filesystem::path& folder, const Recipe& recipe, const Config& config) {
  write_text(folder / "generation_config.json", generation_config(recipe, config).dump(2) + "\n");
  write_text(folder / "recipe.toml", dump_recipe(recipe));
  write_text(folder / "config.json", config.json.dump(2) + "\n");
}

void freeze_parameters(const std::vector<std::string>& patterns, const Parameters& parameters, Gradients& gradients) {
  const auto fits = [](const std::string& pattern, const Weight& weight) {
    return matches_pattern(pattern, weight.name);
  };
  for (const std::string& pattern : patterns) {
    const auto& weights = parameters.weights();
    check(std::any_of(weights.begin(), weights.end(), [&](const Weight& weight) { return fits(pattern, weight); }),
          "[recipe] optimizer.freeze: no parameter fits \"{}\": name one of the model's, with * for any letters",
          pattern);
  }
  gradients.freeze([&](const Weight& weight) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& pattern) { return fits(pattern, weight); });
  });
}

}  // namespace limpid
