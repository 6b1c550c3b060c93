#pragma once
// Scores of systems (scoring/system_scores.h) printed, for people or as JSON.

#include <string>
#include <vector>

#include "scoring/system_scores.h"

namespace limpid {

struct ScoreOptions : SystemScoreOptions {
  int digits = 1;     // after the point, for people
  bool json = false;  // all digits
};

// What somebody should know about these scores: tokenised text, Korean.
std::vector<std::string> score_advice(const std::vector<ScoredSystem>& systems,
                                      const std::vector<std::vector<std::string>>& references,
                                      const ScoreOptions& options);

// Advice on stderr, scores on stdout.
void print_scores(const std::vector<ScoredSystem>& systems, const std::vector<std::vector<std::string>>& references,
                  const ScoreOptions& options);

}  // namespace limpid
