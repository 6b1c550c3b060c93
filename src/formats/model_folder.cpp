#include "formats/model_folder.h"

#include <fmt/ranges.h>

#include <cstring>

#include "base/file.h"
#include "formats/safetensors_writer.h"

namespace limpid {
namespace {

// Files in the wild carry a prefix or an old name for some weights.
const SafetensorsEntry* find_entry(const SafetensorsFolder& files, const std::string& name) {
  std::string old_name = name;
  for (const auto& [now, before] :
       {std::pair{"LayerNorm.weight", "LayerNorm.gamma"}, std::pair{"LayerNorm.bias", "LayerNorm.beta"}})
    if (name.ends_with(now)) old_name = name.substr(0, name.size() - std::string_view(now).size()) + before;
  for (const std::string& candidate : {name, "transformer." + name, old_name})
    if (const SafetensorsEntry* entry = files.find(candidate)) return entry;
  return nullptr;
}

bool is_bytes(const SafetensorsEntry& entry) { return entry.type_name == "I8" || entry.type_name == "U8"; }

const SafetensorsEntry& entry_of(const SafetensorsFolder& files, const Weight& weight) {
  const SafetensorsEntry* found = find_entry(files, weight.name);
  const SafetensorsEntry& entry = found ? files.get(found->name) : files.get(weight.name);  // says what is missing
  check(entry.shape == weight.shape,
        "[model] {}: {} has shape [{}], the config asks for [{}]: do config and weights belong together?",
        files.path().string(), weight.name, fmt::join(entry.shape, ", "), fmt::join(weight.shape, ", "));
  return entry;
}

// A matrix of bytes is q8 with its factors beside it (I8), or rows of blocks (U8).
void attach_quantized(const SafetensorsFolder& files, const SafetensorsEntry& entry, Weight& weight,
                      WeightHolder& holder) {
  const std::string where = "[model] " + files.path().string();
  check(weight.is_matrix(), "{}: {} is quantised, which only matrices can be: quantise the model again", where,
        weight.name);
  const int64_t rows = weight.shape[0], cols = weight.shape[1];
  if (entry.type_name == "U8") {
    for (const NumberType type : {NumberType::q4_0, NumberType::q8_0})
      if (cols % kBlockNumbers == 0 && entry.shape == std::vector{rows, bytes_of(type, cols)})
        return weight.point_to(type, entry.bytes.data());
  }
  check(entry.type_name == "I8" && entry.shape == weight.shape,
        "{}: {} has {} of shape [{}], the config asks for [{}]: do config and weights belong together?", where,
        weight.name, entry.type_name, fmt::join(entry.shape, ", "), fmt::join(weight.shape, ", "));
  const SafetensorsEntry& factors = files.get(weight.name + "_scale");
  check(factors.type == NumberType::f32 && factors.shape == std::vector{rows},
        "{}: {} has {} of shape [{}] instead of one F32 a row: quantise the model again", where, factors.name,
        factors.type_name, fmt::join(factors.shape, ", "));
  weight.point_to(NumberType::q8, entry.bytes.data());
  std::memcpy(holder.make_factors(weight), factors.bytes.data(), factors.bytes.size());
}

}  // namespace

void read_weights(const SafetensorsFolder& files, Parameters& parameters,
                  const std::function<bool(const Weight&)>& skip) {
  for (const Weight& weight : parameters.weights()) {
    if (skip && skip(weight)) continue;
    const SafetensorsEntry* found = find_entry(files, weight.name);
    check(!found || !is_bytes(*found),
          "[model] {}: {} is quantised and cannot be trained: name the model that it was made from",
          files.path().string(), weight.name);
    read_reals(entry_of(files, weight), parameters.data(weight));
  }
}

MappedWeights::MappedWeights(const std::filesystem::path& folder, Model& model) : files_(folder) {
  model.visit_parameters([&](Weight& weight) {
    const SafetensorsEntry* found = find_entry(files_, weight.name);
    if (found && is_bytes(*found)) return attach_quantized(files_, *found, weight, holder_);
    const SafetensorsEntry& entry = entry_of(files_, weight);
    holder_.point(weight, *entry.type, entry.bytes.data());
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
