#pragma once
// A quantised model as a folder: config.json with a quantization_config and model.safetensors. The layout is that of
// docs/quantization.md; formats/model_folder.h opens it.

#include <filesystem>

#include "formats/quantize.h"

namespace limpid {

// `options`: what the model was quantised by, 8 or 4 bits or a mix.
void write_quantized_folder(const std::filesystem::path& folder, Model& model, const QuantizeOptions& options);

// Copies what else belongs to a model's folder: tokenizers, chat template, generation_config.json, and the parts of
// sentence-transformers.
void copy_companions(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace limpid
