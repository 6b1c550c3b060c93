// From a recipe and its dataset to the config.json of the model.

#include "base/error.h"
#include "models/missing_keys.h"
#include "training/dataset.h"
#include "training/model_ladder.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

// As Hugging Face's classes are called.
std::string classifier_class(const std::string& model_type) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"bert", "Bert"},
                                                                      {"distilbert", "DistilBert"},
                                                                      {"roberta", "Roberta"},
                                                                      {"xlm-roberta", "XLMRoberta"},
                                                                      {"camembert", "Camembert"},
                                                                      {"mpnet", "MPNet"},
                                                                      {"modernbert", "ModernBert"}};
  for (const auto& [type, name] : kNames)
    if (model_type == type) return std::string(name) + "ForSequenceClassification";
  fail("[recipe] data.labels is true: {} has no class that labels texts", model_type);
}

void set_labels(Json& json, const std::vector<std::string>& labels) {
  json["architectures"] = {classifier_class(json.at("model_type"))};
  json.erase("num_labels");  // id2label says it
  json["id2label"] = json["label2id"] = Json::object();
  for (size_t i = 0; i < labels.size(); ++i) {
    json["id2label"][std::to_string(i)] = labels[i];
    json["label2id"][labels[i]] = i;
  }
}

// Found out before hours of training, not in the step that meets the longest example.
void check_lengths(const Recipe& recipe, const Dataset& dataset, const Config& config) {
  const bool table = config.positions == PositionKind::learned || config.positions == PositionKind::sinusoidal;
  if (recipe.data.unit == "stream") {
    check(!table || recipe.batch.window <= config.max_positions,
          "[recipe] batch.window is {}, but the model knows only {} positions: lower it, or raise the model's",
          recipe.batch.window, config.max_positions);
    check(recipe.batch.window < dataset.valid_report.tokens[0],
          "[data] the text to validate on has {} tokens, too few for a window of {}: give more text, raise "
          "data.valid_share, or lower batch.window",
          dataset.valid_report.tokens[0], recipe.batch.window);
    return;
  }
  if (!table) return;
  const int64_t last = config.continues_text() ? 1 : 0;  // is only predicted, never read
  const int64_t longest = std::max(dataset.train_report.longest, dataset.valid_report.longest) - last;
  check(longest <= config.max_positions,
        "[recipe] an example has {} tokens, but the model knows only {} positions: lower data.max_length, or raise the "
        "model's",
        longest, config.max_positions);
}

// What the texts decide of a config.
struct Vocabulary {
  int64_t size;
  SpecialIds special;
  std::vector<std::string> labels;
};

// What a small model of the family has under these keys, as it is written on the command line.
std::string usual_values(const Recipe& recipe, const std::vector<std::string>& keys) {
  const int64_t positions = std::max<int64_t>({256, recipe.data.max_length, recipe.batch.window});
  const std::string type = model_type_of(recipe);
  if (!has_ladder(type)) return " sizes of its own (docs/models.md)";
  const Json usual = rung_model(type, model_ladder()[1], positions, 0.1);
  std::string text;
  for (const std::string& key : keys)
    if (usual.contains(key)) text += fmt::format(" model.{}={}", key, usual.at(key).dump());
  return text;
}

Config parsed(const Recipe& recipe, const Json& json) {
  try {
    return parse_config(json);
  } catch (const MissingKeys& error) {
    fail("{}; a small one has{}", error.what(), usual_values(recipe, error.keys()));
  }
}

Config parse_model(const Recipe& recipe, const Vocabulary& vocabulary) {
  Json json = recipe.model;
  // A model that the run goes on from may have more rows than its tokenizer has tokens, and special tokens of its own.
  const auto own = [&](const char* key) {
    return !recipe.start_from.empty() && json.contains(key) && !json.at(key).is_null();
  };
  if (!own("vocab_size")) json["vocab_size"] = vocabulary.size;
  const SpecialIds& special = vocabulary.special;
  const auto set = [&](const char* key, int32_t id) {
    if (!own(key)) json[key] = id >= 0 ? Json(id) : Json(nullptr);
  };
  set("pad_token_id", special.pad);
  set("eos_token_id", special.end);
  set("bos_token_id", special.begin);
  const Task task = task_of(recipe);
  if (task == Task::translation) set("decoder_start_token_id", special.pad);
  if (task == Task::masked || task == Task::classification) set("mask_token_id", special.mask);
  if (task == Task::classification) set_labels(json, vocabulary.labels);
  Config config = parsed(recipe, json);
  for (const std::string& note : config.notes)
    check(note.find("ignored") == std::string::npos, "[recipe] [model]: {}", note);
  check(config.labels.empty() == (task != Task::classification),
        "[recipe] [model] has labels, but data.labels is false: set it, and the labels come from the text");
  return config;
}

}  // namespace

Config make_config(const Recipe& recipe, const Dataset& dataset) {
  const Tokenizers& tokenizers = dataset.tokenizers;
  Config config = parse_model(recipe, {tokenizers.source->size(), tokenizers.target->special(), dataset.labels});
  for (const Tokenizer* tokenizer : {tokenizers.source.get(), tokenizers.target.get()})
    check(tokenizer->size() <= config.vocab,
          "[recipe] the tokenizer has {0} tokens, but model.vocab_size is {1}: {0} is the least", tokenizer->size(),
          config.vocab);
  check_lengths(recipe, dataset, config);
  return config;
}

void check_model(const Recipe& recipe) {
  parse_model(
      recipe,
      {.size = 1000, .special = {.pad = 0, .end = 1, .unknown = 2, .begin = 3, .mask = 4}, .labels = {"one", "other"}});
}

}  // namespace limpid
