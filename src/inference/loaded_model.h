#pragma once
// LoadedModel: a model's folder, ready to use: config.json, the weights (mapped, not copied) and the tokenizers.

#include <filesystem>
#include <memory>

#include "formats/model_folder.h"
#include "models/model.h"
#include "text/tokenizer.h"

namespace limpid {

struct LoadedModel {
  std::unique_ptr<Model> model;
  std::unique_ptr<MappedWeights> weights;  // what the model's weights point into
  Tokenizers tokenizers;

  const Config& config() const { return model->config(); }  // config().notes: what was ignored, for people to read
};

// Throws where a file is missing or the parts do not fit each other, saying which.
LoadedModel load_model(const std::filesystem::path& folder);

}  // namespace limpid
