#pragma once
// KeyValueCache: the keys and values of tokens that a decoder has read, one entry a layer and sequence, so that the
// next token is computed alone.
//
// Sequences that have a beginning in common share it. A row lies once in memory however many sequences look at it: a
// copy of an entry copies no numbers, and of the copies that go on differently only the first writes behind the shared
// rows, while each other takes a block of its own.

#include <memory>
#include <span>
#include <vector>

#include "tensor/matrix.h"

namespace limpid {

class KeyValueCache {
 public:
  // The keys and values of one layer and sequence: rows are added at the end, in O(1) amortised. A key and its value
  // lie side by side, the rows of a sequence one after another.
  class Entry {
   public:
    void append(ConstMatrix keys, ConstMatrix values);
    ConstMatrix keys() const { return part(0, key_cols()); }
    ConstMatrix values() const { return part(key_cols(), value_cols()); }
    int64_t count() const { return count_; }

   private:
    struct Block;
    int64_t key_cols() const;
    int64_t value_cols() const;
    ConstMatrix part(int64_t first_col, int64_t cols) const;
    void make_room(int64_t rows, int64_t key_cols, int64_t value_cols);

    std::shared_ptr<Block> block_;
    int64_t count_ = 0;  // rows of the block that belong to this sequence
  };

  explicit KeyValueCache(int64_t sequences) : lengths_(sequences) {}

  int64_t sequences() const { return static_cast<int64_t>(lengths_.size()); }
  // Entries of one attention layer, by sequence.
  std::vector<Entry>& layer(int64_t index);
  // Tokens read before, of one sequence: the position of the next one.
  int64_t length(int64_t sequence) const { return lengths_[sequence]; }
  // Called once a pass, when all layers have appended their rows.
  void advance(int64_t sequence, int64_t tokens) { lengths_[sequence] += tokens; }

  // New sequences, of which nothing has been read, behind the others.
  void add(int64_t sequences);
  // Sequence i is from now on what sequences[i] was: chooses, drops, repeats and reorders.
  void keep(std::span<const int32_t> sequences);

 private:
  std::vector<std::vector<Entry>> layers_;
  std::vector<int64_t> lengths_;
};

}  // namespace limpid
