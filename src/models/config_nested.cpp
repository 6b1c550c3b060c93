// Models that read pictures too: the config of the part that reads text stands in the object text_config.

#include "models/config_steps.h"

namespace limpid {

using Json = nlohmann::ordered_json;

Json text_config_of(const Json& json) {
  const auto text = json.is_object() ? json.find("text_config") : json.end();
  if (!json.is_object() || text == json.end() || !text->is_object()) return json;
  Json of_text = *text;
  for (const auto& [key, value] : json.items())  // what holds for the whole
    if (key.ends_with("_token_id") || key == "tie_word_embeddings" || key == "transformers_version" ||
        key == "quantization_config" || key == "torch_dtype" || key == "dtype")
      if (!of_text.contains(key)) of_text[key] = value;
  return with_usual_sizes(of_text);  // published files leave them out
}

}  // namespace limpid
