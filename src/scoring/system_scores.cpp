#include "scoring/system_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace limpid {
namespace {

constexpr int64_t kRandomizationsPerDraw = 10;

std::vector<TextMetric> metrics_of(const SystemScoreOptions& options) {
  std::vector<TextMetric> metrics;
  for (const std::string& name : options.metrics) {
    check(std::ranges::find(kMetricNames, name) != kMetricNames.end(),
          "[evaluate] no metric \"{}\": give bleu, chrf or chrf++", name);
    if (name == "bleu")
      for (const BleuTokenizer tokenizer : options.tokenizers)
        metrics.emplace_back(BleuOptions{.tokenizer = tokenizer, .lowercase = options.lowercase});
    else
      metrics.emplace_back(ChrfOptions{.word_order = name == "chrf++" ? 2 : 0, .lowercase = options.lowercase});
  }
  return metrics;
}

MetricReport score_by(const TextMetric& metric, const std::vector<ScoredSystem>& systems, References references,
                      const SystemScoreOptions& options) {
  MetricReport report{.metric = metric};
  const ScoreOfSums score = score_of_sums(metric);
  const bool pair = systems.size() == 2, draw = options.confidence || pair;
  std::vector<SentenceStatistics> counts;
  std::vector<std::vector<double>> draws;
  for (const ScoredSystem& system : systems) {
    counts.push_back(statistics(metric, system.lines, references));
    const std::vector<int64_t> sums = sum(counts.back());
    SystemScore& made = report.systems.emplace_back(SystemScore{.score = score(sums)});
    if (std::holds_alternative<BleuOptions>(metric)) made.bleu = bleu_of_sums(sums);
    if (!draw) continue;
    draws.push_back(bootstrap_scores(counts.back(), score, {.draws = options.resamples, .seed = options.seed}));
    made.interval = confidence_interval(draws.back());
  }
  SignatureFields fields{.references = static_cast<int64_t>(references.size())};
  if (draw) {
    fields.bootstrap_draws = options.resamples;
    fields.seed = options.seed;
  }
  if (pair) {
    const int64_t mixes = options.resamples * kRandomizationsPerDraw;
    fields.randomization_draws = mixes;
    const double difference = report.systems[1].score - report.systems[0].score;
    report.comparison = Comparison{
        .difference = difference,
        .bootstrap_p = paired_bootstrap_p(draws[0], draws[1], difference),
        .randomization_p = paired_randomization_p(counts[0], counts[1], score, {.draws = mixes, .seed = options.seed})};
  }
  report.signature = signature(metric, fields);
  return report;
}

nlohmann::ordered_json to_json(const MetricReport& report, const SystemScore& system) {
  nlohmann::ordered_json value{{"name", name(report.metric)}, {"score", system.score}, {"signature", report.signature}};
  if (system.bleu) {
    value["precisions"] = system.bleu->precisions;
    value["brevity_penalty"] = system.bleu->brevity_penalty;
    value["ratio"] = system.bleu->ratio();
    value["hyp_len"] = system.bleu->hypothesis_length;
    value["ref_len"] = system.bleu->reference_length;
    value["matches"] = system.bleu->matches;
    value["totals"] = system.bleu->totals;
    value["verbose_score"] = details(*system.bleu);
  }
  if (system.interval) {
    value["confidence_mean"] = system.interval->mean;
    value["confidence_var"] = system.interval->half_width;  // sacreBLEU's name for it
  }
  return value;
}

}  // namespace

nlohmann::ordered_json to_json(const std::vector<MetricReport>& reports, const std::vector<ScoredSystem>& systems,
                               const std::vector<std::string>& advice) {
  nlohmann::ordered_json value{{"lines", systems[0].lines.size()}, {"advice", advice}};
  for (size_t i = 0; i < systems.size(); ++i) {
    nlohmann::ordered_json scores = nlohmann::ordered_json::array();
    for (const MetricReport& report : reports) scores.push_back(to_json(report, report.systems[i]));
    value["systems"].push_back({{"name", systems[i].name}, {"scores", scores}});
  }
  for (const MetricReport& report : reports)
    if (report.comparison)
      value["comparison"].push_back({{"name", name(report.metric)},
                                     {"signature", report.signature},
                                     {"difference", report.comparison->difference},
                                     {"p_bootstrap", report.comparison->bootstrap_p},
                                     {"p_randomization", report.comparison->randomization_p}});
  return value;
}

std::vector<MetricReport> score_systems(const std::vector<ScoredSystem>& systems,
                                        const std::vector<std::vector<std::string>>& references,
                                        const SystemScoreOptions& options) {
  check(systems.size() == 1 || systems.size() == 2, "[evaluate] {} systems: give one, or two to compare",
        systems.size());
  const std::vector<std::span<const std::string>> views(references.begin(), references.end());
  std::vector<MetricReport> reports;
  for (const TextMetric& metric : metrics_of(options)) reports.push_back(score_by(metric, systems, views, options));
  return reports;
}

}  // namespace limpid
