#include "formats/quantized_folder.h"

#include <algorithm>
#include <array>
#include <deque>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "formats/model_folder.h"
#include "formats/safetensors_writer.h"

namespace limpid {

namespace fs = std::filesystem;

namespace {

bool is_companion(const std::string& name) {
  constexpr std::array others = {"spiece.model",
                                 "merges.txt",
                                 "encoder.json",
                                 "special_tokens_map.json",
                                 "added_tokens.json",
                                 "chat_template.jinja",
                                 "generation_config.json",
                                 "modules.json",
                                 "sentence_bert_config.json",
                                 "config_sentence_transformers.json",
                                 "recipe.toml"};
  return name.starts_with("tokenizer") || name.starts_with("vocab.") || name.ends_with(".spm") ||
         std::ranges::find(others, name) != others.end();
}

// "1_Pooling", "2_Dense": the parts of a sentence-transformers folder behind the model.
bool is_part(const std::string& name) { return name.size() > 2 && name[0] >= '0' && name[0] <= '9' && name[1] == '_'; }

}  // namespace

void write_quantized_folder(const fs::path& folder, Model& model, const QuantizeOptions& options) {
  make_folder(folder);
  std::vector<TensorToWrite> tensors;
  nlohmann::ordered_json types;  // of a mix, whose types cannot be told by their size
  std::deque<std::vector<std::byte>> reordered;
  model.visit_parameters([&](Weight& weight) {
    std::vector<int64_t> shape = weight.shape;
    if (is_quantized(weight.type) && weight.type != DType::q8) shape[1] = bytes_of(weight.type, shape[1]);
    if (!options.mix.empty() && is_quantized(weight.type)) types[weight.name] = name_of(weight.type);
    // As files of the family have them.
    const auto in_order = [&](const void* numbers, int64_t row_bytes) {
      if (!weight.file_rows) return numbers;
      std::vector<std::byte>& rows = reordered.emplace_back(weight.shape[0] * row_bytes);
      copy_to_file_order(*weight.file_rows, static_cast<const std::byte*>(numbers), row_bytes, rows.data());
      return static_cast<const void*>(rows.data());
    };
    const int64_t row_bytes = bytes_of(weight.type, weight.size() / weight.shape[0]);
    tensors.push_back(
        {.name = weight.name, .type = weight.type, .shape = shape, .bytes = in_order(weight.data, row_bytes)});
    if (weight.type == DType::q8)
      tensors.push_back({.name = weight.name + "_scale",
                         .shape = {weight.shape[0]},
                         .bytes = in_order(weight.scales, sizeof(float))});
  });
  write_safetensors(folder / "model.safetensors", tensors);
  nlohmann::ordered_json json = model.config().json;
  json["quantization_config"] = {{"quant_method", "limpid"}};
  if (options.mix.empty())
    json["quantization_config"]["bits"] = options.bits;
  else
    json["quantization_config"].update({{"type", options.mix}, {"types", types}});
  write_text(folder / "config.json", json.dump(2) + "\n");
}

void copy_companions(const fs::path& from, const fs::path& to) {
  for (const fs::path& path : paths_in(from)) {
    const std::string name = path.filename().string();
    std::error_code error;
    if (fs::is_directory(path, error) ? !is_part(name) : !is_companion(name)) continue;
    fs::copy(path, to / name, fs::copy_options::overwrite_existing | fs::copy_options::recursive, error);
    if (error) fail(ErrorKind::io, "[quantize] {}: cannot be copied: {}", path.string(), error.message());
  }
}

}  // namespace limpid
