#include "formats/quantized_folder.h"

#include "base/error.h"
#include "base/file.h"
#include "formats/model_folder.h"
#include "formats/safetensors_writer.h"

namespace limpid {

namespace fs = std::filesystem;

namespace {

bool is_companion(const std::string& name) {
  return name.starts_with("tokenizer") || name.starts_with("vocab.") || name.ends_with(".spm") ||
         name == "merges.txt" || name == "generation_config.json" || name == "special_tokens_map.json" ||
         name == "added_tokens.json" || name == "recipe.toml";
}

}  // namespace

void write_quantized_folder(const fs::path& folder, Model& model, int bits) {
  make_folder(folder);
  std::vector<TensorToWrite> tensors;
  model.visit_parameters([&](Weight& weight) {
    std::vector<int64_t> shape = weight.shape;
    if (is_blocked(weight.type)) shape[1] = bytes_of(weight.type, shape[1]);
    tensors.push_back({.name = weight.name, .type = weight.type, .shape = shape, .bytes = weight.data});
    if (weight.type == NumberType::q8)
      tensors.push_back({.name = weight.name + "_scale", .shape = {weight.shape[0]}, .bytes = weight.factors});
  });
  write_safetensors(folder / "model.safetensors", tensors);
  nlohmann::ordered_json json = model.config().json;
  json["quantization_config"] = {{"quant_method", "limpid"}, {"bits", bits}};
  write_text(folder / "config.json", json.dump(2) + "\n");
}

void copy_companions(const fs::path& from, const fs::path& to) {
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || !is_companion(name)) continue;
    std::error_code error;
    fs::copy_file(entry.path(), to / name, fs::copy_options::overwrite_existing, error);
    check(!error, "[quantize] {}: cannot be copied: {}", entry.path().string(), error.message());
  }
}

}  // namespace limpid
