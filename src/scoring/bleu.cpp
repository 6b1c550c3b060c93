#include "scoring/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/parallel.h"
#include "scoring/ngrams.h"
#include "scoring/python_text.h"

namespace limpid {
namespace {

constexpr int kOrders = 4;
constexpr int64_t kWidth = 2 + 2 * kOrders;
constexpr int64_t kBleuGrain = 16;  // sentences per job
constexpr double kLogOfZero = -9999999999;

std::vector<std::u32string> words_of(const std::string& line, const BleuOptions& options) {
  const std::u32string text = code_points(line);
  return bleu_words(options.lowercase ? python_lower(text) : text, options.tokenizer);
}

// The shorter one of two that are equally near.
int64_t nearest_length(int64_t wanted, const std::vector<int64_t>& lengths) {
  return *std::min_element(lengths.begin(), lengths.end(), [&](int64_t a, int64_t b) {
    return std::pair(std::abs(a - wanted), a) < std::pair(std::abs(b - wanted), b);
  });
}

void count_sentence(const std::vector<std::u32string>& hypothesis,
                    const std::vector<std::vector<std::u32string>>& references, std::span<int64_t> row) {
  WordNumbers numbers;
  Ngrams ngrams(kOrders);
  const auto hypothesis_counts = ngrams.count(numbers.of(hypothesis));

  std::vector<int64_t> most(hypothesis_counts.size());  // that any reference has; n-grams of no hypothesis do not count
  std::vector<int64_t> lengths;
  for (const auto& reference : references) {
    const auto counts = ngrams.count(numbers.of(reference));
    for (size_t k = 0; k < most.size(); ++k) most[k] = std::max(most[k], counts[k]);
    lengths.push_back(static_cast<int64_t>(reference.size()));
  }

  row[0] = static_cast<int64_t>(hypothesis.size());
  row[1] = nearest_length(row[0], lengths);
  for (size_t k = 0; k < most.size(); ++k) {
    const auto order = static_cast<size_t>(ngrams.order(static_cast<int64_t>(k)));
    row[1 + order] += std::min(hypothesis_counts[k], most[k]);
    row[1 + kOrders + order] += hypothesis_counts[k];
  }
}

}  // namespace

double BleuScore::ratio() const {
  return reference_length == 0 ? 0 : static_cast<double>(hypothesis_length) / static_cast<double>(reference_length);
}

SentenceStatistics bleu_statistics(std::span<const std::string> hypotheses, References references,
                                   const BleuOptions& options) {
  check_lines(hypotheses, references);
  SentenceStatistics statistics{.width = kWidth, .counts = std::vector<int64_t>(hypotheses.size() * kWidth)};
  parallel_ranges(static_cast<int64_t>(hypotheses.size()), kBleuGrain, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      std::vector<std::vector<std::u32string>> reference_words;
      for (const auto& reference : references) reference_words.push_back(words_of(reference[i], options));
      count_sentence(words_of(hypotheses[i], options), reference_words,
                     std::span(statistics.counts).subspan(i * kWidth, kWidth));
    }
  });
  return statistics;
}

BleuScore bleu_of_sums(std::span<const int64_t> sums) {
  BleuScore result{.hypothesis_length = sums[0], .reference_length = sums[1]};
  std::copy_n(sums.begin() + 2, kOrders, result.matches.begin());
  std::copy_n(sums.begin() + 2 + kOrders, kOrders, result.totals.begin());
  if (result.hypothesis_length < result.reference_length)
    result.brevity_penalty =
        result.hypothesis_length > 0
            ? std::exp(1 - static_cast<double>(result.reference_length) / static_cast<double>(result.hypothesis_length))
            : 0;
  // Without any match there is nothing to smooth; an order that no hypothesis is long enough for makes the score 0.
  if (result.matches == std::array<int64_t, 4>{}) return result;
  double smoothing = 1, logs = 0;
  for (size_t n = 0; n < kOrders; ++n) {
    const auto matches = static_cast<double>(result.matches[n]), total = static_cast<double>(result.totals[n]);
    if (total > 0 && matches == 0) smoothing *= 2;
    if (total > 0) result.precisions[n] = matches > 0 ? 100 * matches / total : 100 / (smoothing * total);
    logs += result.precisions[n] > 0 ? std::log(result.precisions[n]) : kLogOfZero;
  }
  result.score = result.brevity_penalty * std::exp(logs / kOrders);
  return result;
}

BleuScore bleu(std::span<const std::string> hypotheses, References references, const BleuOptions& options) {
  return bleu_of_sums(sum(bleu_statistics(hypotheses, references, options)));
}

BleuScore bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
               const BleuOptions& options) {
  return bleu(hypotheses, References(&references, 1), options);
}

std::string details(const BleuScore& score) {
  const auto& p = score.precisions;
  return fmt::format("{:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})", p[0], p[1],
                     p[2], p[3], score.brevity_penalty, score.ratio(), score.hypothesis_length, score.reference_length);
}

}  // namespace limpid
