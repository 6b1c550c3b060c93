#pragma once
// Counts of n-grams in the texts of one sentence: hypothesis and references, of words or of characters.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace limpid {

// Equal n-grams get equal numbers, 0, 1, 2 …, whatever text of the sentence they stand in: an n-gram is found by the
// number of its first n - 1 symbols and its last symbol, so no n-gram is ever stored or hashed whole.
class Ngrams {
 public:
  explicit Ngrams(int max_order) : max_order_(max_order) {}

  int max_order() const { return max_order_; }
  int order(int64_t number) const { return orders_[static_cast<size_t>(number)]; }

  // How often each n-gram of orders 1 … max_order occurs, by its number; numbers beyond the end occur never.
  std::vector<int64_t> count(const std::vector<uint32_t>& symbols);

 private:
  static constexpr uint32_t kNothing = 0xFFFFFFFF;  // the n-gram of no symbols
  uint32_t extend(uint32_t shorter, uint32_t symbol, int order);

  int max_order_;
  std::unordered_map<uint64_t, uint32_t> numbers_;
  std::vector<int> orders_;  // by number
};

// Numbers for the words of one sentence.
class WordNumbers {
 public:
  template <class Words>
  std::vector<uint32_t> of(const Words& words) {
    std::vector<uint32_t> numbers;
    for (const auto& word : words)
      numbers.push_back(known_.emplace(std::u32string(word), static_cast<uint32_t>(known_.size())).first->second);
    return numbers;
  }

 private:
  std::unordered_map<std::u32string, uint32_t> known_;
};

}  // namespace limpid
