#pragma once
// A model whose weights are drawn and not trained, for what holds of the architecture alone.

#include <memory>

#include "autograd/parameters.h"
#include "models/model.h"

namespace limpid {

struct UntrainedModel {
  std::shared_ptr<Parameters> parameters;
  std::unique_ptr<Model> model;  // keeps the parameters

  UntrainedModel(const Config& config, uint64_t seed) : model(make_model(config)) {
    parameters = std::make_shared<Parameters>([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); });
    parameters->initialize(seed);
    model->keep(parameters);
  }
};

}  // namespace limpid
