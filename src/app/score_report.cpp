#include "app/score_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scoring/python_text.h"
#include "scoring/text_checks.h"

namespace limpid {
namespace {

constexpr double kKoreanShare = 0.3;   // of the letters; names and numbers of others are common in Korean text
constexpr double kSignificant = 0.05;  // p below it gets a star

std::string score_text(const SystemScore& system, int digits) {
  std::string text = fmt::format("{:.{}f}", system.score, digits);
  if (system.interval)
    text += fmt::format(" (μ = {:.{}f} ± {:.{}f})", system.interval->mean, digits, system.interval->half_width, digits);
  return text;
}

std::string p_text(double p) { return fmt::format("{:.4f}{}", p, p < kSignificant ? " *" : ""); }

std::string column_title(const TextMetric& metric, bool several_tokenizers) {
  const auto* bleu_options = std::get_if<BleuOptions>(&metric);
  if (bleu_options == nullptr || !several_tokenizers) return name(metric);
  return fmt::format("BLEU ({})", name(bleu_options->tokenizer));
}

// A column for each metric, a row for each system, and rows for how they differ.
void print_comparison(const std::vector<MetricReport>& reports, const std::vector<ScoredSystem>& systems,
                      const ScoreOptions& options) {
  std::vector<std::vector<std::string>> columns = {
      {"system", "A " + systems[0].name, "B " + systems[1].name, "B - A", "p (paired bootstrap)", "p (randomisation)"}};
  for (const MetricReport& report : reports)
    columns.push_back({column_title(report.metric, options.tokenizers.size() > 1),
                       score_text(report.systems[0], options.digits), score_text(report.systems[1], options.digits),
                       fmt::format("{:+.{}f}", report.comparison->difference, options.digits),
                       p_text(report.comparison->bootstrap_p), p_text(report.comparison->randomization_p)});
  for (size_t row = 0; row < columns[0].size(); ++row) {
    std::string text;
    for (const auto& column : columns) {
      size_t width = 0;
      for (const std::string& cell : column) width = std::max(width, code_points(cell).size());
      text += fmt::format("{:{}}  ", column[row], width);
    }
    fmt::print("{}\n", text.substr(0, text.find_last_not_of(' ') + 1));
  }
  fmt::print("* p < {}: the difference is hardly chance\n\n", kSignificant);
  for (const MetricReport& report : reports) fmt::print("{}|{}\n", name(report.metric), report.signature);
}

}  // namespace

std::vector<std::string> score_advice(const std::vector<ScoredSystem>& systems,
                                      const std::vector<std::vector<std::string>>& references,
                                      const ScoreOptions& options) {
  std::vector<std::string> advice;
  const auto asked = [&](const char* metric) {
    return std::ranges::find(options.metrics, metric) != options.metrics.end();
  };
  const auto cut_by = [&](BleuTokenizer tokenizer) {
    return asked("bleu") && std::ranges::find(options.tokenizers, tokenizer) != options.tokenizers.end();
  };
  for (const ScoredSystem& system : systems) {
    const int64_t tokenized = asked("bleu") ? tokenized_lines(system.lines) : 0;
    if (tokenized >= kManyTokenizedLines && !cut_by(BleuTokenizer::none))
      advice.push_back(fmt::format(
          "{} lines of {} end in \" .\": the text looks tokenised, which changes BLEU; detokenise it, or say "
          "--tokenize none",
          tokenized, system.name));
  }
  if (cut_by(BleuTokenizer::none))
    advice.emplace_back(
        "BLEU of text as it is divided (tok:none) compares only with scores of text divided the same way");
  const bool has_chrf = asked("chrf") || asked("chrf++");
  if (hangul_share(references[0]) >= kKoreanShare && (!has_chrf || !cut_by(BleuTokenizer::character)))
    advice.emplace_back(
        "the reference is Korean: chrF and BLEU of characters say more than BLEU of words "
        "(--metrics bleu,chrf --tokenize char)");
  return advice;
}

void print_scores(const std::vector<ScoredSystem>& systems, const std::vector<std::vector<std::string>>& references,
                  const ScoreOptions& options) {
  const std::vector<MetricReport> reports = score_systems(systems, references, options);
  const std::vector<std::string> advice = score_advice(systems, references, options);
  for (const std::string& note : advice) fmt::print(stderr, "limpid evaluate: {}\n", note);
  if (options.json) {
    fmt::print("{}\n", to_json(reports, systems, advice).dump());
    return;
  }
  if (systems.size() == 2) return print_comparison(reports, systems, options);
  for (const MetricReport& report : reports) {
    const SystemScore& system = report.systems[0];
    fmt::print("{}|{} = {}{}\n", name(report.metric), report.signature, score_text(system, options.digits),
               system.bleu ? " " + details(*system.bleu) : "");
  }
}

}  // namespace limpid
