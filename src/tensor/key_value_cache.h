#pragma once
// KeyValueCache: the keys and values of tokens that a decoder has read, one entry per layer and sequence, so that the
// next token is computed alone.
//
// Sequences that have a beginning in common share it. A row lies once in memory however many sequences look at it: a
// copy of an entry copies no numbers, and copies that go on differently, a token at a time, write into the same block
// as long as it has room; which rows are its own, each then keeps in a list. So the hypotheses of a search hardly copy
// anything, and read what they have in common from the nearest cache.
//
// Memory is counted. A sequence that was added with a limit never takes blocks of more rows than that, so that what a
// sequence can come to need is known before it begins.

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "tensor/matrix.h"

namespace limpid {

// Bytes in use and the most that ever were.
struct ByteCount {
  std::atomic<int64_t> now = 0, peak = 0;
  void add(int64_t bytes);
};

class KeyValueCache {
 public:
  static constexpr int64_t kFirstRows = 16;  // of a sequence's first block, unless its limit is lower

  // The keys and values of one layer and sequence: rows are added at the end, in O(1) amortised. A key and its value
  // lie side by side.
  class Entry {
   public:
    // Several rows at once leave the sequence in order.
    void append(ConstMatrix keys, ConstMatrix values);
    void shorten(int64_t count);  // forgets the rows behind the first `count`
    void compact();               // row i is again where i says
    ConstMatrix keys() const { return part(0, key_cols()); }
    ConstMatrix values() const { return part(key_cols(), value_cols()); }
    int64_t count() const { return count_; }
    // Which rows, from those of keys() and values() on, are those of the sequence; empty: 0, 1, 2, …
    const std::vector<int32_t>& listed() const { return row_indices_; }

   private:
    friend class KeyValueCache;
    struct Block;
    int64_t key_cols() const;
    int64_t value_cols() const;
    ConstMatrix part(int64_t first_col, int64_t cols) const;
    void make_room(int64_t rows, int64_t key_cols, int64_t value_cols);
    void reallocate(int64_t rows, int64_t key_cols, int64_t value_cols);

    std::shared_ptr<Block> block_;
    std::vector<int32_t> row_indices_;
    int64_t count_ = 0;  // rows of the block that belong to this sequence
    int64_t limit_ = 0;  // rows that it will have at most; 0: nobody knows
    std::shared_ptr<ByteCount> bytes_;
  };

  // What was read of one sequence, apart from the cache: it holds its blocks alive.
  struct Saved {
    std::vector<Entry> layers;
    int64_t length = 0;
    int64_t bytes() const;  // of its blocks
  };

  explicit KeyValueCache(int64_t sequences) : lengths_(sequences), limits_(sequences) {}

  int64_t sequences() const { return static_cast<int64_t>(lengths_.size()); }
  // Entries of one attention layer, by sequence.
  std::vector<Entry>& layer(int64_t index);
  // Tokens read before, of one sequence: the position of the next one.
  int64_t length(int64_t sequence) const { return lengths_[sequence]; }
  // Called once per pass, when all layers have appended their rows.
  void advance(int64_t sequence, int64_t tokens) { lengths_[sequence] += tokens; }

  // New sequences, of which nothing has been read, behind the others. `limit`: rows that one will have at most in a
  // layer, 0: nobody knows. Rows that come at once find room anyway.
  void add(int64_t sequences, int64_t limit = 0);
  // One more sequence, which goes on from the first `length` tokens of what was saved.
  void add(const Saved& saved, int64_t length, int64_t limit = 0);
  Saved save(int64_t sequence) const;
  // Sequence i is from now on what sequences[i] was: chooses, drops, repeats and reorders.
  void reorder(std::span<const int32_t> sequences);

  int64_t bytes() const { return bytes_->now; }        // of all blocks that live, saved ones included
  int64_t most_bytes() const { return bytes_->peak; }  // that ever were

 private:
  void fill(std::vector<Entry>& entries) const;

  std::vector<std::vector<Entry>> layers_;
  std::vector<int64_t> lengths_, limits_;
  std::shared_ptr<ByteCount> bytes_ = std::make_shared<ByteCount>();
};

}  // namespace limpid
