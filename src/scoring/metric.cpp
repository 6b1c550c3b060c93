#include "scoring/metric.h"

#include <fmt/format.h>

namespace limpid {
namespace {

std::string own_fields(const BleuOptions& options) {
  return fmt::format("case:{}|eff:no|tok:{}|smooth:exp", options.lowercase ? "lc" : "mixed", name(options.tokenizer));
}

std::string own_fields(const ChrfOptions& options) {
  return fmt::format("case:{}|eff:yes|nc:{}|nw:{}|space:no", options.lowercase ? "lc" : "mixed", kChrfCharacterOrder,
                     options.word_order);
}

}  // namespace

std::string name(const TextMetric& metric) {
  const auto* chrf_options = std::get_if<ChrfOptions>(&metric);
  if (chrf_options == nullptr) return "BLEU";
  return fmt::format("chrF{}{}", kChrfBeta, std::string(static_cast<size_t>(chrf_options->word_order), '+'));
}

SentenceStatistics statistics(const TextMetric& metric, std::span<const std::string> hypotheses,
                              References references) {
  if (const auto* options = std::get_if<BleuOptions>(&metric)) return bleu_statistics(hypotheses, references, *options);
  return chrf_statistics(hypotheses, references, std::get<ChrfOptions>(metric));
}

ScoreOfSums score_of_sums(const TextMetric& metric) {
  if (std::holds_alternative<BleuOptions>(metric))
    return [](std::span<const int64_t> sums) { return bleu_of_sums(sums).score; };
  return chrf_of_sums;
}

std::string signature(const TextMetric& metric, const SignatureFields& fields) {
  std::string text = fmt::format("nrefs:{}|", fields.references);
  if (fields.bootstrap_draws) text += fmt::format("bs:{}|", *fields.bootstrap_draws);
  if (fields.randomization_draws) text += fmt::format("ar:{}|", *fields.randomization_draws);
  // Our own random numbers: the same seed draws other sentences than sacreBLEU's, so the field must not look the same.
  if (fields.seed) text += fmt::format("seed:limpid-{}|", *fields.seed);
  text += std::visit([](const auto& options) { return own_fields(options); }, metric);
  return text + "|version:limpid-" LIMPID_VERSION;
}

}  // namespace limpid
