#pragma once
// Published models by their config.json: the shapes alone, to count with.

#include "experiments/experiment.h"

namespace limpid {

struct KnownConfig {
  std::string name;
  Json config;
  // Feed-forward networks of two matrices four times as wide as the model, every head with keys of its own: the shape
  // of which the rule of two thirds speaks.
  bool classical = true;
  std::string differs;  // where it is not: what it has instead
};

const std::vector<KnownConfig>& known_configs();
const KnownConfig& known_config(const std::string& name);

}  // namespace limpid
