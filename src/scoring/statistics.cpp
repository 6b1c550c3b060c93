#include "scoring/statistics.h"

#include "base/error.h"

namespace limpid {

std::vector<int64_t> sum(const SentenceStatistics& statistics) {
  std::vector<int64_t> sums(static_cast<size_t>(statistics.width));
  for (int64_t i = 0; i < statistics.sentences(); ++i) {
    const auto row = statistics.of(i);
    for (size_t k = 0; k < row.size(); ++k) sums[k] += row[k];
  }
  return sums;
}

void check_lines(std::span<const std::string> hypotheses, References references) {
  check(!hypotheses.empty(), "[score] there is nothing to score: give one line for each sentence");
  check(!references.empty(), "[score] there is no reference: give at least one text to compare with");
  for (const auto& reference : references)
    check(reference.size() == hypotheses.size(),
          "[score] the hypothesis has {} lines and a reference has {}: give one line for each sentence in both",
          hypotheses.size(), reference.size());
}

}  // namespace limpid
