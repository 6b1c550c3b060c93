#include "inference/token_rules.h"

#include <algorithm>
#include <limits>

namespace limpid {
namespace {

constexpr real kNever = -std::numeric_limits<real>::infinity();

void force(int32_t token, std::span<real> scores) {
  const real kept = scores[static_cast<size_t>(token)];
  std::fill(scores.begin(), scores.end(), kNever);
  scores[static_cast<size_t>(token)] = std::max(kept, std::numeric_limits<real>::lowest());
}

// Whether the next token would complete the word.
bool completes(const std::vector<int32_t>& word, std::span<const int32_t> history) {
  const size_t before = word.size() - 1;
  return before <= history.size() && std::equal(word.begin(), word.end() - 1, history.last(before).begin());
}

// Calls body(token) for every token that would make the last tokens repeat a sequence of `size`.
template <class Body>
void each_repeating(std::span<const int32_t> history, size_t size, const Body& body) {
  if (history.size() < size) return;
  const auto last = history.last(size - 1);
  for (size_t i = 0; i + size <= history.size(); ++i)
    if (std::equal(last.begin(), last.end(), history.begin() + static_cast<ptrdiff_t>(i))) body(history[i + size - 1]);
}

}  // namespace

bool TokenRules::any() const {
  return !bad_words.empty() || !suppressed.empty() || !suppressed_first.empty() || forced_first || forced_last ||
         least_tokens > 0 || no_repeat_ngram > 0;
}

std::vector<int32_t> forbidden_next(const TokenRules& rules, const TextPlace& place) {
  std::vector<int32_t> tokens = rules.suppressed;
  for (const auto& word : rules.bad_words)
    if (completes(word, place.history)) tokens.push_back(word.back());
  if (rules.no_repeat_ngram > 0)
    each_repeating(place.history, static_cast<size_t>(rules.no_repeat_ngram),
                   [&](int32_t token) { tokens.push_back(token); });
  if (place.written == 0) tokens.insert(tokens.end(), rules.suppressed_first.begin(), rules.suppressed_first.end());
  if (place.written < rules.least_tokens) tokens.insert(tokens.end(), rules.ends.begin(), rules.ends.end());
  return tokens;
}

void forbid(std::span<const int32_t> tokens, std::span<real> scores) {
  for (const int32_t token : tokens)
    if (token >= 0 && static_cast<size_t>(token) < scores.size()) scores[static_cast<size_t>(token)] = kNever;
}

void apply_token_rules(const TokenRules& rules, const TextPlace& place, std::span<real> scores) {
  forbid(forbidden_next(rules, place), scores);
  if (place.written == 0 && rules.forced_first) return force(*rules.forced_first, scores);
  if (place.last && rules.forced_last) force(*rules.forced_last, scores);
}

}  // namespace limpid
