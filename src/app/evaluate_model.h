#pragma once
// limpid evaluate, the part that scores a model: translations of a test set, or the likelihood of a text.

#include <filesystem>
#include <string>
#include <vector>

#include "app/score_report.h"
#include "inference/generate.h"

namespace limpid {

struct EvaluateModelOptions {
  std::filesystem::path model;
  std::vector<std::string> test;         // files as in data.test of a recipe; empty: those of the model's own recipe
  std::string hypotheses;                // where to write the translations; empty: nowhere
  int64_t beam = 0;                      // 0: as the recipe says
  std::optional<double> length_penalty;  // none: as the recipe says
  ScoreOptions scores;
};

int evaluate_model(const EvaluateModelOptions& options);

}  // namespace limpid
