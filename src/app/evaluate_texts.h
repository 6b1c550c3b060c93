#pragma once
// limpid evaluate, the part that scores translations that lie in files.

#include <filesystem>
#include <vector>

#include "app/score_report.h"

namespace limpid {

struct EvaluateTextsOptions {
  std::filesystem::path hypothesis;               // plain or gzip, as all of these
  std::vector<std::filesystem::path> references;  // at least one
  std::filesystem::path system_b;                 // to compare the hypothesis with; empty: none
  ScoreOptions scores;
};

// Prints the scores and returns the exit code. Files that cannot be read or have different numbers of lines are Errors.
int evaluate_texts(const EvaluateTextsOptions& options);

}  // namespace limpid
