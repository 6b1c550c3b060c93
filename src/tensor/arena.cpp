#include "tensor/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "base/error.h"

namespace limpid {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kSlab = int64_t{64} << 20;

int64_t round_up(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

// Best fit over free ranges, neighbours merged again when they are returned.
class Arena::Pool {
 public:
  ~Pool() {
    for (auto [data, bytes] : slabs_) munmap(data, bytes);
  }

  char* take(int64_t bytes) {
    std::lock_guard lock(mutex_);
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->second >= bytes && (best == free_.end() || it->second < best->second)) best = it;
    if (best == free_.end()) best = add_slab(bytes);
    const auto [data, available] = *best;
    free_.erase(best);
    if (available > bytes) free_.emplace(data + bytes, available - bytes);
    in_use_ += bytes;
    return data;
  }

  void give_back(char* data, int64_t bytes) {
    std::lock_guard lock(mutex_);
    in_use_ -= bytes;
    auto next = free_.lower_bound(data);
    if (next != free_.end() && data + bytes == next->first) {
      bytes += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == data) {
        previous->second += bytes;
        return;
      }
    }
    free_.emplace_hint(next, data, bytes);
  }

  int64_t in_use() const {
    std::lock_guard lock(mutex_);
    return in_use_;
  }
  int64_t reserved() const {
    std::lock_guard lock(mutex_);
    return reserved_;
  }

 private:
  std::map<char*, int64_t>::iterator add_slab(int64_t bytes) {
    bytes = round_up(bytes, kSlab);
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(data != MAP_FAILED, "[arena] no memory for another {} MB: use smaller batches or shorter sequences",
          bytes >> 20);
    madvise(data, bytes, MADV_HUGEPAGE);  // a hint: fewer page faults, fewer misses of the address cache
    slabs_.emplace_back(data, bytes);
    reserved_ += bytes;
    return free_.emplace(static_cast<char*>(data), bytes).first;
  }

  mutable std::mutex mutex_;
  std::map<char*, int64_t> free_;  // start and length in bytes of every free range
  std::vector<std::pair<void*, int64_t>> slabs_;
  int64_t in_use_ = 0;
  int64_t reserved_ = 0;
};

Arena::Arena() : pool_(std::make_shared<Pool>()) {}

Numbers Arena::allocate(int64_t count) const {
  const int64_t bytes = std::max(kAlignment, round_up(count * static_cast<int64_t>(sizeof(real)), kAlignment));
  char* data = pool_->take(bytes);
  return {reinterpret_cast<real*>(data),
          [pool = pool_, bytes](real* block) { pool->give_back(reinterpret_cast<char*>(block), bytes); }};
}

int64_t Arena::bytes_in_use() const { return pool_->in_use(); }
int64_t Arena::bytes_reserved() const { return pool_->reserved(); }

}  // namespace limpid
