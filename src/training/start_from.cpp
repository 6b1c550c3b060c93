#include "training/start_from.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "formats/plain_model.h"
#include "inference/loaded_model.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

// Says nothing about the model that is trained now: how the file came about, what another text was labelled with.
bool is_record(const std::string& key) {
  constexpr std::string_view kRecords[] = {"architectures", "torch_dtype", "dtype",          "transformers_version",
                                           "bad_words_ids", "id2label",    "label2id",       "num_labels",
                                           "problem_type",  "auto_map",    "finetuning_task"};
  return key.starts_with("_") || std::find(std::begin(kRecords), std::end(kRecords), key) != std::end(kRecords);
}

}  // namespace

Json model_of(const std::filesystem::path& from) {
  const LoadedModel loaded = load_model(from, {.need_tokenizers = false});
  const Config& config = loaded.config();
  Json kept;
  for (const auto& [key, value] : config.json.items()) {
    const bool ignored =
        std::any_of(config.notes.begin(), config.notes.end(),
                    [&, name = key + " is ignored"](const std::string& note) { return note.starts_with(name); });
    if (!is_record(key) && !ignored && !value.is_null()) kept[key] = value;
  }
  check(!kept.contains("quantization_config"),
        "[train] {}: its weights are quantised: go on from the model that it was made of", from);
  return kept;
}

void take_weights(const std::filesystem::path& from, const Model& model, Parameters& parameters) {
  const LoadedModel loaded = load_model(from, {.need_tokenizers = false});
  const PlainModel plain = plain_model(*loaded.model);
  std::map<std::string, const Weight*> theirs;
  for (const Weight& weight : plain.parameters->weights()) theirs[weight.name] = &weight;
  for (const Weight& weight : parameters.weights()) {
    const auto found = theirs.find(weight.name);
    const bool fits = found != theirs.end() && found->second->shape == weight.shape;
    if (!fits && !model.config().writes() && weight.role == ParameterRole::output) continue;
    check(found != theirs.end(), "[train] {} has no {}: is it a model of another family or size?", from, weight.name);
    check(fits, "[train] {}: {} has shape [{}] there and [{}] by the recipe: take [model] as its config.json has it",
          from, weight.name, fmt::join(found->second->shape, ", "), fmt::join(weight.shape, ", "));
    const real* numbers = plain.parameters->data() + found->second->offset;
    std::copy(numbers, numbers + weight.size(), parameters.data() + weight.offset);
  }
}

}  // namespace limpid
