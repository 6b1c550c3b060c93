#include "inference/loaded_model.h"

#include "text/tokenizer_training.h"

namespace limpid {
namespace {

void check_folder(const std::filesystem::path& folder) {
  check(std::filesystem::exists(folder), "[model] there is no \"{}\": name the folder that training wrote",
        folder.string());
  check(std::filesystem::is_directory(folder),
        "[model] \"{}\" is not a folder: name the folder that holds config.json and the weights", folder.string());
  check(std::filesystem::exists(folder / "config.json"),
        "[model] \"{}\" has no config.json: name the folder that training wrote", folder.string());
}

// Ids must mean the same to both: a tokenizer may leave ids unused, but not go beyond the model's vocabulary.
void check_tokenizer(const Tokenizer& tokenizer, const Config& config, const char* side) {
  check(tokenizer.size() <= config.vocab,
        "[model] the {} tokenizer has {} tokens, the model {}: these files do not belong together", side,
        tokenizer.size(), config.vocab);
  const int32_t end = tokenizer.special().end;
  check(!config.eos_token || end < 0 || *config.eos_token == end,
        "[model] a text ends with token {} for the {} tokenizer and with {} (eos_token_id) for the model: these files "
        "do not belong together",
        end, side, config.eos_token.value_or(-1));
}

}  // namespace

LoadedModel load_model(const std::filesystem::path& folder) {
  check_folder(folder);
  LoadedModel loaded;
  loaded.model = make_model(load_config(folder.string()));
  loaded.weights = std::make_unique<MappedWeights>(folder, *loaded.model);
  loaded.tokenizers = load_tokenizers(folder);
  check_tokenizer(*loaded.tokenizers.source, loaded.config(), "source");
  check_tokenizer(*loaded.tokenizers.target, loaded.config(), "target");
  return loaded;
}

}  // namespace limpid
