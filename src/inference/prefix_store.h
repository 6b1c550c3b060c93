#pragma once
// PrefixStore: keys and values of texts that a language model has read, by their tokens, so that a text that begins
// alike need not be read again. Those not used for the longest time go first.

#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "tensor/key_value_cache.h"

namespace limpid {

// How many tokens two texts have in common from the beginning on.
int64_t common_beginning(std::span<const int32_t> a, std::span<const int32_t> b);

class PrefixStore {
 public:
  struct Found {
    const KeyValueCache::Saved* saved = nullptr;
    int64_t tokens = 0;  // in common
  };
  // The one with the longest beginning in common with the text; it counts as used now.
  Found find(std::span<const int32_t> text);

  // What begins another one is not kept beside it.
  void insert(std::vector<int32_t> ids, KeyValueCache::Saved saved);
  void shrink(int64_t bytes);  // to at most so many
  int64_t bytes() const { return bytes_; }

 private:
  struct Text {
    std::vector<int32_t> ids;
    KeyValueCache::Saved saved;
  };
  void erase(std::list<Text>::iterator text);

  std::list<Text> texts_;  // the one used last stands first
  int64_t bytes_ = 0;
};

}  // namespace limpid
