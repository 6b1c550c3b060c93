#pragma once
// Arena: where the values of a forward pass live. Blocks are handed out and taken back many times per step, so they
// come from large slabs that are kept; a block returns by itself when the last Tensor that shares it is gone.

#include <cstdint>
#include <memory>

#include "base/real.h"

namespace limpid {

// Shared ownership of a run of numbers, aligned to 64 bytes.
using Buffer = std::shared_ptr<real>;

class Arena {
 public:
  Arena();

  // `count` numbers, not initialised. Blocks may outlive the arena and be released by any thread.
  Buffer allocate(int64_t count) const;

  int64_t bytes_in_use() const;    // of blocks handed out and not yet returned
  int64_t bytes_reserved() const;  // of slabs taken from the operating system

 private:
  class Pool;
  std::shared_ptr<Pool> pool_;
};

}  // namespace limpid
