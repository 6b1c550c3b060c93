#include "tensor/arena.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/pages.h"

namespace limpid {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kSlab = int64_t{64} << 20;

int64_t round_up(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

// Best fit over free ranges, of equals the first in memory; neighbours are merged again when they are returned. That a
// block comes back must not need memory, so what its range is listed in is there before it is handed out.
class Arena::Pool {
 public:
  char* take(int64_t bytes) {
    std::lock_guard lock(mutex_);
    while (std::ssize(spare_) < blocks_ + 2) make_spare();  // one for each block, a new slab's, the rest of a range
    auto best = by_size_.lower_bound({bytes, nullptr});
    if (best == by_size_.end()) {
      add_slab(bytes);
      best = by_size_.lower_bound({bytes, nullptr});
    }
    const auto [available, data] = *best;
    remove(free_.find(data));
    if (available > bytes) add(data + bytes, available - bytes);
    in_use_ += bytes;
    ++blocks_;
    return data;
  }

  void give_back(char* data, int64_t bytes) {
    std::lock_guard lock(mutex_);
    in_use_ -= bytes;
    --blocks_;
    auto next = free_.lower_bound(data);
    if (next != free_.end() && data + bytes == next->first) {
      bytes += next->second;
      next = remove(next);
    }
    if (next != free_.begin()) {
      const auto previous = std::prev(next);
      if (previous->first + previous->second == data) {
        data = previous->first;
        bytes += previous->second;
        remove(previous);
      }
    }
    add(data, bytes);
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
  using Ranges = std::map<char*, int64_t>;
  using Sizes = std::set<std::pair<int64_t, char*>>;
  struct Spare {
    Ranges::node_type range;
    Sizes::node_type size;
  };

  void make_spare() {
    Ranges range{{nullptr, 0}};
    Sizes size{{0, nullptr}};
    spare_.reserve(static_cast<size_t>(++spares_));  // room for all to come back
    spare_.push_back({range.extract(range.begin()), size.extract(size.begin())});
  }
  void add(char* data, int64_t bytes) {
    Spare spare = std::move(spare_.back());
    spare_.pop_back();
    spare.range.key() = data;
    spare.range.mapped() = bytes;
    spare.size.value() = {bytes, data};
    free_.insert(std::move(spare.range));
    by_size_.insert(std::move(spare.size));
  }
  Ranges::iterator remove(Ranges::iterator range) {
    const auto next = std::next(range);
    auto size = by_size_.extract({range->second, range->first});
    spare_.push_back({free_.extract(range), std::move(size)});
    return next;
  }
  void add_slab(int64_t bytes) {
    bytes = round_up(bytes, kSlab);
    slabs_.push_back(allocate_pages(bytes));
    if (slabs_.back() == nullptr)
      fail(ErrorKind::out_of_memory, "[arena] no memory for another {} MB: use smaller batches or shorter sequences",
           bytes >> 20);
    reserved_ += bytes;
    add(reinterpret_cast<char*>(slabs_.back().get()), bytes);
  }

  mutable std::mutex mutex_;
  Ranges free_;    // start and length in bytes of every free range
  Sizes by_size_;  // the same, length first
  std::vector<Spare> spare_;
  int64_t spares_ = 0;  // ever made
  int64_t blocks_ = 0;  // handed out
  std::vector<std::shared_ptr<std::byte>> slabs_;
  int64_t in_use_ = 0;
  int64_t reserved_ = 0;
};

Arena::Arena() : pool_(std::make_shared<Pool>()) {}

Buffer Arena::allocate(int64_t count) const {
  const int64_t bytes = std::max(kAlignment, round_up(count * static_cast<int64_t>(sizeof(real)), kAlignment));
  char* data = pool_->take(bytes);
  return {reinterpret_cast<real*>(data),
          [pool = pool_, bytes](real* block) { pool->give_back(reinterpret_cast<char*>(block), bytes); }};
}

int64_t Arena::bytes_in_use() const { return pool_->in_use(); }
int64_t Arena::bytes_reserved() const { return pool_->reserved(); }

}  // namespace limpid
