#include "base/nearest.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace limpid {
namespace {

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& letter : result)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return result;
}

// Optimal string alignment: d(i, j) is the least number of edits between the first i and the first j letters.
int64_t edits(std::string_view a, std::string_view b) {
  std::vector<int64_t> two_ago(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    two_ago.swap(last);
    last.swap(row);
    row[0] = static_cast<int64_t>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_ago[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string_view> known) {
  const std::string wanted = lower(word);
  std::string best;
  int64_t fewest = std::max<int64_t>(1, static_cast<int64_t>(wanted.size()) / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::string name = lower(candidate);
    const bool beginning = wanted.size() >= 2 && name.starts_with(wanted);
    const int64_t distance = name == wanted ? 0 : beginning ? 1 : edits(wanted, name);
    if (distance >= fewest) continue;
    fewest = distance;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string meant = nearest(word, known);
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

}  // namespace limpid
