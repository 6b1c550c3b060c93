#pragma once
// A run that goes on from a model: of any format that can be opened, of any family that trains.

#include <filesystem>

#include "autograd/parameters.h"
#include "models/model.h"

namespace limpid {

// The keys of a recipe's [model]: those of the model's config.json that say what it is, its vocabulary and special
// tokens included. Labels belong to the text that it is trained on next.
nlohmann::ordered_json model_of(const std::filesystem::path& from);

// Copies the model's weights. An encoder may end in another head than the one that is trained now: what only the new
// one has stays as it was drawn.
void take_weights(const std::filesystem::path& from, const Model& model, Parameters& parameters);

}  // namespace limpid
