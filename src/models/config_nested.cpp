// Models that read pictures too: the config of the part that reads text stands in the object text_config.

#include "models/config_steps.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

// What text_config leaves out where it is Hugging Face's value, of families whose published files do.
const Json& usual_sizes(const std::string& model_type) {
  static const Json table = {{"gemma3_text",
                              {{"vocab_size", 262208},
                               {"hidden_size", 2304},
                               {"intermediate_size", 9216},
                               {"num_hidden_layers", 26},
                               {"num_attention_heads", 8}}}};
  static const Json none = Json::object();
  const auto found = table.find(model_type);
  return found == table.end() ? none : *found;
}

}  // namespace

Json text_config_of(const Json& json) {
  const auto text = json.is_object() ? json.find("text_config") : json.end();
  if (!json.is_object() || text == json.end() || !text->is_object()) return json;
  const auto type = text->find("model_type");
  Json of_text = usual_sizes(type != text->end() && type->is_string() ? type->get<std::string>() : "");
  of_text.update(*text);
  for (const auto& [key, value] : json.items())  // what holds for the whole
    if (key.ends_with("_token_id") || key == "tie_word_embeddings" || key == "transformers_version" ||
        key == "quantization_config" || key == "torch_dtype" || key == "dtype")
      if (!of_text.contains(key)) of_text[key] = value;
  return of_text;
}

}  // namespace limpid
