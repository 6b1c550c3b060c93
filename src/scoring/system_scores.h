#pragma once
// Scores of one system's texts, or of two systems side by side with tests whether they differ.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scoring/bleu_tokenizer.h"
#include "scoring/metric.h"

namespace limpid {

struct SystemScoreOptions {
  std::vector<std::string> metrics = {"bleu", "chrf"};            // of kMetricNames
  std::vector<BleuTokenizer> tokenizers = {BleuTokenizer::t13a};  // one BLEU for each
  bool lowercase = false;
  bool confidence = false;   // intervals; two systems have them anyway
  int64_t resamples = 1000;  // of the bootstrap; ten times as many of the randomisation
  uint64_t seed = 12345;
};

inline const std::vector<std::string> kMetricNames = {"bleu", "chrf", "chrf++"};

struct ScoredSystem {
  std::string name;
  std::vector<std::string> lines;
};

struct SystemScore {
  double score = 0;
  std::optional<BleuScore> bleu;
  std::optional<ConfidenceInterval> interval;
};

struct Comparison {
  double difference = 0;  // the second system's score - the first one's
  double bootstrap_p = 1, randomization_p = 1;
};

struct MetricReport {
  TextMetric metric;
  std::string signature;
  std::vector<SystemScore> systems;
  std::optional<Comparison> comparison;  // of two systems
};

// One or two systems against the same references, references[which][line].
std::vector<MetricReport> score_systems(const std::vector<ScoredSystem>& systems,
                                        const std::vector<std::vector<std::string>>& references,
                                        const SystemScoreOptions& options);

// `advice`: what somebody should know about these scores.
nlohmann::ordered_json to_json(const std::vector<MetricReport>& reports, const std::vector<ScoredSystem>& systems,
                               const std::vector<std::string>& advice);

}  // namespace limpid
