#include "autograd/probe.h"

#include <algorithm>

namespace limpid {

ConstMatrix Tap::sequence(int64_t i) const {
  check(layout.rows && !layout.keys, "[tap] {} has no rows of tokens", name);
  return value.values().rows_from(layout.rows->begin(i), layout.rows->length(i));
}

ConstMatrix Tap::pairs(int64_t i, int64_t head) const {
  check(layout.rows && layout.keys, "[tap] {} has no pairs of queries and keys", name);
  int64_t start = 0;
  for (int64_t s = 0; s < i; ++s) start += layout.heads * layout.rows->length(s) * layout.keys->length(s);
  const int64_t n = layout.rows->length(i), m = layout.keys->length(i);
  return {value.values().data + start + head * n * m, n, m};
}

void FunctionProbe::on(std::string pattern, Reader reader) {
  rules_.emplace_back(std::move(pattern), [reader = std::move(reader)](const Tap& tap) {
    reader(tap);
    return tap.value;
  });
}

void FunctionProbe::replace(std::string pattern, Replacer replacer) {
  rules_.emplace_back(std::move(pattern), std::move(replacer));
}

bool FunctionProbe::wants(std::string_view name) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const auto& rule) { return matches_pattern(rule.first, name); });
}

Tensor FunctionProbe::visit(const Tap& tap) {
  Tensor value = tap.value;
  for (const auto& [pattern, replacer] : rules_)
    if (matches_pattern(pattern, tap.name)) value = replacer({tap.name, value, tap.layout});
  return value;
}

bool matches_pattern(std::string_view pattern, std::string_view name) {
  // Greedy with one point to go back to: the last star seen.
  size_t p = 0, n = 0, star = std::string_view::npos, star_name = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace limpid
