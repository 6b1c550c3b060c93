#include "inference/prefix_store.h"

#include <algorithm>

namespace limpid {

int64_t common_beginning(std::span<const int32_t> a, std::span<const int32_t> b) {
  const size_t most = std::min(a.size(), b.size());
  const auto part = a.first(most);
  return std::mismatch(part.begin(), part.end(), b.begin()).first - part.begin();
}

PrefixStore::Found PrefixStore::find(std::span<const int32_t> text) {
  Found found;
  auto best = texts_.end();
  for (auto i = texts_.begin(); i != texts_.end(); ++i)
    if (const int64_t tokens = common_beginning(i->ids, text); tokens > found.tokens) {
      found.tokens = tokens;
      best = i;
    }
  if (best == texts_.end()) return found;
  texts_.splice(texts_.begin(), texts_, best);
  found.saved = &best->saved;
  return found;
}

void PrefixStore::erase(std::list<Text>::iterator text) {
  bytes_ -= text->saved.bytes();
  texts_.erase(text);
}

void PrefixStore::insert(std::vector<int32_t> ids, KeyValueCache::Saved saved) {
  for (auto i = texts_.begin(); i != texts_.end();) {
    const auto text = i++;
    const auto common = static_cast<size_t>(common_beginning(text->ids, ids));
    if (common == ids.size()) return;  // it is there, or a longer one
    if (common == text->ids.size()) erase(text);
  }
  bytes_ += saved.bytes();
  texts_.push_front({std::move(ids), std::move(saved)});
}

void PrefixStore::shrink(int64_t bytes) {
  while (bytes_ > bytes && !texts_.empty()) erase(std::prev(texts_.end()));
}

}  // namespace limpid
