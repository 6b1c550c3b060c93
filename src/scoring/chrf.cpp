#include "scoring/chrf.h"

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "scoring/ngrams.h"
#include "scoring/python_text.h"

namespace limpid {
namespace {

constexpr int64_t kChrfGrain = 8;  // sentences per job

bool is_ascii_punctuation(char32_t c) {
  return (c >= U'!' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') || (c >= U'{' && c <= U'~');
}

// Words with one mark of punctuation cut off, at the end or else at the beginning, as the author's chrF++ has it:
// "(hi)" gives "(hi" and ")".
std::vector<std::u32string_view> chrf_words(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (const std::u32string_view word : split_words(text)) {
    const size_t length = word.size();
    const size_t cut = length == 1                          ? 0
                       : is_ascii_punctuation(word.back())  ? length - 1
                       : is_ascii_punctuation(word.front()) ? 1
                                                            : 0;
    if (cut > 0) words.push_back(word.substr(0, cut));
    words.push_back(word.substr(cut));
  }
  return words;
}

std::vector<uint32_t> characters(std::u32string_view text) {
  std::vector<uint32_t> result;
  for (const char32_t c : text)
    if (!is_python_space(c)) result.push_back(static_cast<uint32_t>(c));
  return result;
}

// Counts of hypothesis, reference and both, three for each order.
void match(const Ngrams& ngrams, const std::vector<int64_t>& hypothesis, const std::vector<int64_t>& reference,
           std::span<int64_t> row) {
  for (size_t k = 0; k < reference.size(); ++k) {
    const auto order = static_cast<size_t>(ngrams.order(static_cast<int64_t>(k)) - 1);
    const int64_t in_hypothesis = k < hypothesis.size() ? hypothesis[k] : 0;
    row[3 * order] += in_hypothesis;
    row[3 * order + 1] += reference[k];
    row[3 * order + 2] += std::min(in_hypothesis, reference[k]);
  }
  // A hypothesis is not blamed for orders that its reference is too short for.
  for (int order = 0; order < ngrams.max_order(); ++order) {
    const size_t at = size_t{3} * order;
    if (row[at + 1] == 0) row[at] = 0;
  }
}

// One sentence's hypothesis against its references.
class SentenceCounts {
 public:
  SentenceCounts(const std::string& hypothesis, const ChrfOptions& options)
      : options_(options), words_(options.word_order) {
    hypothesis_ = count(hypothesis);
  }

  std::vector<int64_t> against(const std::string& reference) {
    const Counts counts = count(reference);
    std::vector<int64_t> row(static_cast<size_t>(3 * (kChrfCharacterOrder + options_.word_order)));
    match(characters_, hypothesis_.characters, counts.characters, std::span(row).first(3 * kChrfCharacterOrder));
    match(words_, hypothesis_.words, counts.words, std::span(row).subspan(3 * kChrfCharacterOrder));
    return row;
  }

 private:
  struct Counts {
    std::vector<int64_t> characters, words;
  };

  Counts count(const std::string& line) {
    const std::u32string raw = code_points(line);
    const std::u32string text = options_.lowercase ? python_lower(raw) : raw;
    Counts counts{.characters = characters_.count(characters(text))};
    if (options_.word_order > 0) counts.words = words_.count(numbers_.of(chrf_words(text)));
    return counts;
  }

  ChrfOptions options_;
  Ngrams characters_{kChrfCharacterOrder}, words_;
  WordNumbers numbers_;
  Counts hypothesis_;
};

std::vector<int64_t> best_counts(const std::string& hypothesis, References references, size_t line,
                                 const ChrfOptions& options) {
  SentenceCounts counts(hypothesis, options);
  std::vector<int64_t> best;
  double best_score = -1;
  for (const auto& reference : references) {
    std::vector<int64_t> row = counts.against(reference[line]);
    const double score = chrf_of_sums(row);
    if (score > best_score) {
      best = std::move(row);
      best_score = score;
    }
  }
  return best;
}

}  // namespace

SentenceStatistics chrf_statistics(std::span<const std::string> hypotheses, References references,
                                   const ChrfOptions& options) {
  check_lines(hypotheses, references);
  check(options.word_order >= 0 && options.word_order <= 9,
        "[score] chrF with word n-grams of order {}: give 0 for chrF, 2 for chrF++", options.word_order);
  const size_t width = size_t{3} * (kChrfCharacterOrder + options.word_order);
  SentenceStatistics statistics{.width = static_cast<int64_t>(width),
                                .counts = std::vector<int64_t>(hypotheses.size() * width)};
  parallel_ranges(static_cast<int64_t>(hypotheses.size()), kChrfGrain, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      std::ranges::copy(best_counts(hypotheses[i], references, i, options),
                        statistics.counts.begin() + static_cast<int64_t>(i * width));
  });
  return statistics;
}

double chrf_of_sums(std::span<const int64_t> sums) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (size_t at = 0; at + 2 < sums.size(); at += 3) {
    if (sums[at] == 0 || sums[at + 1] == 0) continue;
    const auto both = static_cast<double>(sums[at + 2]);
    precision += both / static_cast<double>(sums[at]);
    recall += both / static_cast<double>(sums[at + 1]);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  constexpr double kFactor = kChrfBeta * kChrfBeta;
  return 100 * ((1 + kFactor) * precision * recall / (kFactor * precision + recall));
}

double chrf(std::span<const std::string> hypotheses, References references, const ChrfOptions& options) {
  return chrf_of_sums(sum(chrf_statistics(hypotheses, references, options)));
}

double chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
            const ChrfOptions& options) {
  return chrf(hypotheses, References(&references, 1), options);
}

}  // namespace limpid
