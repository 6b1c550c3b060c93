#pragma once
// A model's folder as Hugging Face lays it out: config.json and model.safetensors (or shards of it).

#include <filesystem>

#include "autograd/parameters.h"
#include "formats/safetensors_folder.h"
#include "models/model.h"

namespace limpid {

// Copies every weight's numbers from the files, in whatever precision they are stored. A weight that is missing or has
// another shape is an Error that names it.
void read_weights(const SafetensorsFolder& files, Parameters& parameters);

// Lets every weight of the model point into the mapped files, in the precision they have, so that nothing is copied.
// The files must outlive the model.
void map_weights(const SafetensorsFolder& files, Model& model);

// Writes config.json and model.safetensors, numbers in the given type.
void write_model(const std::filesystem::path& folder, const Config& config, const Parameters& parameters,
                 NumberType type = NumberType::f32);

}  // namespace limpid
