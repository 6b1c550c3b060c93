#include "layers/token_layout.h"

namespace limpid {

Tokens Tokens::of(const std::vector<std::vector<int32_t>>& rows) {
  Tokens tokens;
  std::vector<int64_t> lengths;
  for (const auto& row : rows) {
    tokens.ids.insert(tokens.ids.end(), row.begin(), row.end());
    lengths.push_back(static_cast<int64_t>(row.size()));
  }
  tokens.sequences = Sequences(lengths);
  return tokens;
}

TokenLayout TokenLayout::of(const Sequences& sequences, const std::vector<int64_t>& before) {
  TokenLayout layout{.sequences = sequences, .positions = {}};
  layout.positions.reserve(sequences.tokens());
  for (int64_t i = 0; i < sequences.count(); ++i) {
    const int64_t first = before.empty() ? 0 : before[i];
    for (int64_t t = 0; t < sequences.length(i); ++t) layout.positions.push_back(static_cast<int32_t>(first + t));
  }
  return layout;
}

}  // namespace limpid
