#pragma once
// The steps of parse_config, in their order. All throw Error; see config.h for what a Config says.

#include "models/config.h"
#include "models/config_reader.h"

namespace limpid {

// Hugging Face's names of activation functions.
ConfigReader::Names<Activation> activation_names();

// Every model_type that can be read.
std::vector<std::string_view> known_model_types();

// The config of what reads text: text_config of a model that reads pictures too, else the config itself.
nlohmann::ordered_json text_config_of(const nlohmann::ordered_json& json);

// The keys that the family's class takes for others, under the class's own names.
nlohmann::ordered_json with_own_names(nlohmann::ordered_json json);
// And sizes that a published config.json leaves out because they are the class's.
nlohmann::ordered_json with_usual_sizes(nlohmann::ordered_json json);

// The keys of the config's family, with Hugging Face's values where optional ones are absent.
void read_family(ConfigReader& reader, Config& config);

// The object "limpid": what no Hugging Face config can say.
void read_limpid(ConfigReader& reader, Config& config);

// Throws where a key that changes the mathematics has a value that Limpid does not compute.
void refuse_unsupported(ConfigReader& reader, Config& config);

// Notes the keys that nobody asked for, but for those known to change nothing.
void note_ignored(const ConfigReader& reader, Config& config);

// Layers are built before their weights are looked for, so a config may not ask for any number.
inline constexpr int64_t kMostLayers = 10000;

// Throws where what was read contradicts itself.
void check_consistency(const Config& config);

}  // namespace limpid
