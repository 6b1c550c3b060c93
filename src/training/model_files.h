#pragma once
// What stands in a trained model's folder beside its weights and tokenizer: how to generate with it, and the recipe.

#include "training/dataset.h"

namespace limpid {

// config.json, generation_config.json and recipe.toml.
void write_model_files(const std::filesystem::path& folder, const Recipe& recipe, const Config& config);

// Freezes the parameters whose names fit one of the patterns ("*" stands for anything). A pattern that fits none is an
// Error.
void freeze_parameters(const std::vector<std::string>& patterns, const Parameters& parameters, Gradients& gradients);

}  // namespace limpid
