#include "text/pair_merges.h"

#include <algorithm>
#include <queue>

namespace limpid {
namespace {

// Neighbours that can be joined.
struct Candidate {
  int32_t rank;
  int32_t left;  // place

  bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }
};

}  // namespace

void PairMerges::add(Pair pair, int32_t joined) {
  if (merges_.emplace(pair, Merge{static_cast<int32_t>(pairs_.size()), joined}).second) pairs_.push_back(pair);
}

const PairMerges::Merge* PairMerges::find(int32_t left, int32_t right) const {
  if (left < 0 || right < 0) return nullptr;
  const auto found = merges_.find({left, right});
  return found == merges_.end() ? nullptr : &found->second;
}

// Pieces stay at their places; a piece that was joined to the one before it gets the id kGone. A candidate is out of
// date where the two pieces at its places no longer make what it says.
void PairMerges::apply(std::vector<int32_t>& ids) const {
  constexpr int32_t kGone = -2;
  const auto count = static_cast<int32_t>(ids.size());
  std::vector<int32_t> next(ids.size()), previous(ids.size());
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](int32_t left) {
    if (left < 0 || next[left] >= count) return;
    if (const Merge* merge = find(ids[left], ids[next[left]])) queue.push({merge->rank, left});
  };
  for (int32_t i = 0; i < count; ++i) {
    next[i] = i + 1;
    previous[i] = i - 1;
  }
  for (int32_t i = 0; i + 1 < count; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    const int32_t left = best.left, right = next[left];
    if (ids[left] == kGone || right >= count) continue;
    const Merge* merge = find(ids[left], ids[right]);
    if (!merge || merge->rank != best.rank) continue;
    ids[left] = merge->joined;
    ids[right] = kGone;
    next[left] = next[right];
    if (next[left] < count) previous[next[left]] = left;
    offer(previous[left]);
    offer(left);
  }
  std::erase(ids, kGone);
}

}  // namespace limpid
