#include "formats/model_folder.h"

#include <fmt/ranges.h>

#include "base/file.h"
#include "formats/safetensors_writer.h"

namespace limpid {
namespace {

// Files in the wild carry a prefix or an old name for some weights.
const SafetensorsEntry& find_entry(const SafetensorsFolder& files, const std::string& name) {
  std::string old_name = name;
  for (const auto& [now, before] :
       {std::pair{"LayerNorm.weight", "LayerNorm.gamma"}, std::pair{"LayerNorm.bias", "LayerNorm.beta"}})
    if (name.ends_with(now)) old_name = name.substr(0, name.size() - std::string_view(now).size()) + before;
  for (const std::string& candidate : {name, "transformer." + name, old_name})
    if (files.find(candidate)) return files.get(candidate);
  return files.get(name);  // says what is missing
}

const SafetensorsEntry& entry_of(const SafetensorsFolder& files, const Weight& weight) {
  const SafetensorsEntry& entry = find_entry(files, weight.name);
  check(entry.shape == weight.shape,
        "[model] {}: {} has shape [{}], the config asks for [{}]: do config and weights belong together?",
        files.path().string(), weight.name, fmt::join(entry.shape, ", "), fmt::join(weight.shape, ", "));
  return entry;
}

}  // namespace

void read_weights(const SafetensorsFolder& files, Parameters& parameters,
                  const std::function<bool(const Weight&)>& skip) {
  for (const Weight& weight : parameters.weights())
    if (!skip || !skip(weight)) read_reals(entry_of(files, weight), parameters.data(weight));
}

MappedWeights::MappedWeights(const std::filesystem::path& folder, Model& model) : files_(folder) {
  model.visit_parameters([&](Weight& weight) {
    const SafetensorsEntry& entry = entry_of(files_, weight);
    const bool aligned = reinterpret_cast<uintptr_t>(entry.bytes.data()) % bytes_of(*entry.type) == 0;
    weight.offset = weight.index = -1;  // not trained
    if (aligned && (weight.is_matrix() || *entry.type == kRealType)) {
      weight.type = *entry.type;
      weight.data = entry.bytes.data();
    } else {
      converted_.emplace_back(entry.count());
      read_reals(entry, converted_.back().data());
      weight.type = kRealType;
      weight.data = converted_.back().data();
    }
  });
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  check(!error, "[model] {}: cannot make this folder: {}", folder.string(), error.message());
}

void write_model(const std::filesystem::path& folder, const Config& config, const Parameters& parameters,
                 NumberType type) {
  make_folder(folder);
  std::vector<TensorToWrite> tensors;
  for (const Weight& weight : parameters.weights())
    tensors.push_back(
        {.name = weight.name, .type = type, .shape = weight.shape, .reals = parameters.data() + weight.offset});
  write_safetensors(folder / "model.safetensors", tensors);
  write_text(folder / "config.json", config.json.dump(2) + "\n");
}

}  // namespace limpid
