#pragma once
// KeyValueCache: the keys and values of tokens that a decoder has read, one entry a layer and sequence, so that the
// next token is computed alone.

#include <vector>

#include "tensor/matrix.h"

namespace limpid {

class KeyValueCache {
 public:
  // The keys or values of one layer and sequence: rows are added at the end.
  class Rows {
   public:
    void append(ConstMatrix rows);
    ConstMatrix view() const { return {numbers_.data(), count_, cols_}; }
    int64_t count() const { return count_; }

   private:
    std::vector<real> numbers_;
    int64_t count_ = 0;
    int64_t cols_ = 0;
  };
  struct Entry {
    Rows keys, values;
  };

  explicit KeyValueCache(int64_t sequences) : sequences_(sequences) {}

  int64_t sequences() const { return sequences_; }
  // Entries of one attention layer, by sequence.
  std::vector<Entry>& layer(int64_t index);
  // Tokens read before, of one sequence: the position of the next one.
  int64_t length(int64_t sequence) const { return lengths_.empty() ? 0 : lengths_[sequence]; }
  // Called once a pass, when all layers have appended their rows.
  void advance(int64_t sequence, int64_t tokens);

 private:
  int64_t sequences_;
  std::vector<std::vector<Entry>> layers_;
  std::vector<int64_t> lengths_;
};

}  // namespace limpid
