#include "scoring/ngrams.h"

#include <algorithm>

namespace limpid {

uint32_t Ngrams::extend(uint32_t shorter, uint32_t symbol, int order) {
  const uint64_t key = static_cast<uint64_t>(shorter) << 32 | symbol;
  const auto [found, is_new] = numbers_.try_emplace(key, static_cast<uint32_t>(orders_.size()));
  if (is_new) orders_.push_back(order);
  return found->second;
}

std::vector<int64_t> Ngrams::count(const std::vector<uint32_t>& symbols) {
  std::vector<int64_t> counts(orders_.size());
  for (size_t begin = 0; begin < symbols.size(); ++begin) {
    uint32_t number = kNothing;
    const size_t end = std::min(symbols.size(), begin + static_cast<size_t>(max_order_));
    for (size_t i = begin; i < end; ++i) {
      number = extend(number, symbols[i], static_cast<int>(i - begin) + 1);
      if (number >= counts.size()) counts.resize(number + 1);
      ++counts[number];
    }
  }
  return counts;
}

}  // namespace limpid
