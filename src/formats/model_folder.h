#pragma once
// A model's folder as Hugging Face lays it out: config.json and model.safetensors (or shards of it).

#include <filesystem>

#include "autograd/parameters.h"
#include "formats/safetensors_folder.h"
#include "formats/weight_holder.h"
#include "models/model.h"

namespace limpid {

// The config of a folder, and what its weights say besides: which head an encoder has, whether a language model has an
// output layer of its own. Classes without a head leave out what those with one have.
Config read_model_config(const std::filesystem::path& folder);
void fit_config(Config& config, const SafetensorsFolder& files);

// Copies every weight's numbers from the files, in whatever precision they are stored. A weight that is missing or has
// another shape is an Error that names it. Weights that `skip` is true of keep the numbers they have.
void read_weights(const SafetensorsFolder& files, Parameters& parameters,
                  const std::function<bool(const Weight&)>& skip = {});

// Lets a model's weights point into the mapped files, matrices in the precision they are stored in, so that start-up
// copies nothing of size; vectors of another precision are converted. Must outlive the model's use.
class MappedWeights {
 public:
  MappedWeights(const std::filesystem::path& folder, Model& model);

 private:
  SafetensorsFolder files_;
  WeightHolder holder_;
};

// Makes a folder and those above it, where they do not exist.
void make_folder(const std::filesystem::path& folder);
// Makes a folder in one that is there: where that has been moved away, it is not made again.
void make_inner_folder(const std::filesystem::path& folder);

// Writes config.json and model.safetensors into a folder that is there, numbers in the given type.
void write_model(const std::filesystem::path& folder, const Config& config, const Parameters& parameters,
                 DType type = DType::f32);

}  // namespace limpid
