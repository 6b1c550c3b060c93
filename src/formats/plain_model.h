#pragma once
// A model of any file as Hugging Face has it: reals in the family's own layout, whatever it was stored in.

#include <memory>

#include "autograd/parameters.h"
#include "models/model.h"

namespace limpid {

struct PlainModel {
  std::unique_ptr<Model> model;
  std::unique_ptr<Parameters> parameters;  // its weights' numbers
};

PlainModel plain_model(const Model& model);

}  // namespace limpid
