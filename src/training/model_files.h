#pragma once
// What stands in a trained model's folder beside its weights and tokenizer: how to generate with it, the recipe, and
// where it came from.

#include "training/dataset.h"

namespace limpid {

// generation_config.json, recipe.toml and training.json (command, version, seed, hashes of the data).
void write_model_files(const std::filesystem::path& folder, const Recipe& recipe, const Dataset& dataset,
                       const Config& config, const std::string& command);

// Freezes the parameters whose names fit one of the patterns ("*" stands for anything). A pattern that fits none is an
// Error.
void freeze_parameters(const std::vector<std::string>& patterns, const Parameters& parameters, Gradients& gradients);

}  // namespace limpid
