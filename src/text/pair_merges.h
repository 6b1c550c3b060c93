#pragma once
// PairMerges: byte pair encoding. A word begins as its smallest pieces; again and again the pair of neighbours that was
// learned first is joined, the leftmost of equals first, until no pair is left (Sennrich, Haddow & Birch 2016).

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace limpid {

class PairMerges {
 public:
  using Pair = std::pair<int32_t, int32_t>;  // ids of the pieces

  void reserve(size_t pairs) { merges_.reserve(pairs); }
  void add(Pair pair, int32_t joined);  // in the order they were learned; of a pair that comes twice the first counts
  const std::vector<Pair>& pairs() const { return pairs_; }

  // Joins what can be joined; an id of -1 joins with nothing. O(n log n).
  void apply(std::vector<int32_t>& ids) const;

 private:
  struct Merge {
    int32_t rank, joined;
  };
  struct Hash {
    size_t operator()(const Pair& pair) const {
      const uint64_t key =
          static_cast<uint64_t>(static_cast<uint32_t>(pair.first)) << 32 | static_cast<uint32_t>(pair.second);
      return static_cast<size_t>((key ^ key >> 29) * 0x9E3779B97F4A7C15u >> 7);
    }
  };
  const Merge* find(int32_t left, int32_t right) const;

  std::unordered_map<Pair, Merge, Hash> merges_;
  std::vector<Pair> pairs_;  // by rank
};

}  // namespace limpid
