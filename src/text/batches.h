#pragma once
// Batches: the examples of a corpus in a new random order every epoch, gathered so that examples of a batch have nearly
// the same length, unless that is not wanted. A batch is a function of seed and position, so a run that is resumed goes
// on with the batch it would have seen next.

#include "text/token_store.h"

namespace limpid {

struct BatchesOptions {
  int64_t tokens = 4096;  // at most so many ids of the longer side in a batch (one example may have more); 0: no limit
  int64_t sequences = 0;  // at most so many examples; 0: no limit
  int64_t window = 0;  // 0: examples as they are; else the corpus is one long text, read in windows of so many ids + 1
  int64_t pool = 1 << 17;  // examples that are sorted by length together; bounds memory
  bool shuffle = true;     // false: one epoch in the corpus' own order, as for validation
  bool by_length = true;   // false: in random order, so that lengths differ within a batch
  uint64_t seed = 1;
};

class Batches {
 public:
  struct Position {
    int64_t epoch = 0;
    int64_t pool = 0;   // of the epoch
    int64_t batch = 0;  // of the pool
  };

  Batches(const TokenStore& store, const BatchesOptions& options);

  std::vector<TokenExample> next();                       // begins the next epoch by itself
  const Position& position() const { return position_; }  // of the batch that next() will give
  void seek(const Position& position);
  bool at_epoch_start() const { return position_.pool == 0 && position_.batch == 0; }

  int64_t examples() const { return examples_; }  // an epoch
  // Batches of the epoch, an estimate from its first pool where there are several.
  int64_t batches_per_epoch() const;

 private:
  struct Pool {
    std::vector<ExampleEntry> entries;
    std::vector<int64_t> begin;  // of each batch among the entries, and the end
    std::vector<int32_t> order;  // of the batches
  };
  Pool make_pool(int64_t epoch, int64_t pool) const;
  ExampleEntry window_entry(int64_t epoch, int64_t window) const;
  void step();

  const TokenStore& store_;
  BatchesOptions options_;
  int64_t examples_ = 0, pools_ = 0;
  Position position_;
  Pool pool_;
};

}  // namespace limpid
