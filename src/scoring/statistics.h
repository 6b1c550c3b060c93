#pragma once
// What a score of a whole text is made of, sentence by sentence: counts that can be added. A score of any selection of
// the sentences then costs one sum, which is what resampling lives on.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace limpid {

// Some texts to compare with, each with one line for every line of the hypothesis: references[which][line].
using References = std::span<const std::span<const std::string>>;

struct SentenceStatistics {
  int64_t width = 0;            // counts a sentence
  std::vector<int64_t> counts;  // (sentences, width)

  int64_t sentences() const { return width == 0 ? 0 : static_cast<int64_t>(counts.size()) / width; }
  std::span<const int64_t> of(int64_t sentence) const {
    return std::span(counts).subspan(static_cast<size_t>(sentence * width), static_cast<size_t>(width));
  }
};

std::vector<int64_t> sum(const SentenceStatistics& statistics);

// Throws Error unless there is a hypothesis and every reference has a line for each of its lines.
void check_lines(std::span<const std::string> hypotheses, References references);

}  // namespace limpid
