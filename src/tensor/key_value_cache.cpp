#include "tensor/key_value_cache.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "tensor/arena.h"

namespace limpid {
namespace {

// All caches take their blocks from one arena and give them back: large pages, since every token walks through all of
// them. An arena that lies idle, or of which no more than a quarter was in use for some seconds, is left to its last
// blocks, and goes with them. Not sooner: pages that come anew from the system can cost more than what fills them.
class CacheArena {
 public:
  Buffer allocate(int64_t count) {
    std::lock_guard lock(mutex_);
    look();
    if (Clock::now() - filled_ > std::chrono::seconds(10)) renew();
    return arena_.allocate(count);
  }
  void give_back(Buffer block) {
    std::lock_guard lock(mutex_);
    look();
    block.reset();
    if (arena_.bytes_in_use() == 0) renew();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void look() {
    if (arena_.bytes_in_use() > arena_.bytes_reserved() / 4) filled_ = Clock::now();
  }
  void renew() {
    constexpr int64_t kKept = int64_t{256} << 20;
    if (arena_.bytes_reserved() > kKept) arena_ = Arena();
    filled_ = Clock::now();
  }

  std::mutex mutex_;
  Arena arena_;
  Clock::time_point filled_ = Clock::now();  // when more than a quarter was in use
};

CacheArena& cache_arena() {
  static CacheArena& arena = *new CacheArena;  // blocks of static objects come back late
  return arena;
}

// Rows one after another: many are copied by all threads, which also touch new memory for the first time.
void copy_rows(ConstMatrix from, Matrix to) {
  constexpr int64_t kRange = 1 << 16;  // numbers
  parallel_ranges(from.rows, std::max<int64_t>(1, kRange / std::max<int64_t>(1, from.cols)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) std::copy_n(from.row(i), from.cols, to.row(i));
                  });
}

}  // namespace

void ByteCount::add(int64_t bytes) {
  const int64_t sum = now += bytes;
  for (int64_t most = peak; sum > most && !peak.compare_exchange_weak(most, sum);) {
  }
}

struct KeyValueCache::Entry::Block {
  Block(int64_t keys, int64_t values, int64_t rows, std::shared_ptr<ByteCount> count)
      : key_cols(keys),
        value_cols(values),
        capacity(rows),
        numbers(cache_arena().allocate(rows * (keys + values))),
        counted(std::move(count)) {
    if (counted) counted->add(bytes());
  }
  ~Block() {
    cache_arena().give_back(std::move(numbers));
    if (counted) counted->add(-bytes());
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  int64_t stride() const { return key_cols + value_cols; }
  Matrix rows(int64_t first, int64_t count) const { return {numbers.get() + first * stride(), count, stride()}; }
  int64_t bytes() const { return capacity * stride() * static_cast<int64_t>(sizeof(real)); }

  int64_t key_cols, value_cols;
  int64_t capacity;    // rows
  int64_t filled = 0;  // rows that some sequence has written
  Buffer numbers;
  std::shared_ptr<ByteCount> counted;
};

int64_t KeyValueCache::Entry::key_cols() const { return block_ ? block_->key_cols : 0; }
int64_t KeyValueCache::Entry::value_cols() const { return block_ ? block_->value_cols : 0; }

ConstMatrix KeyValueCache::Entry::part(int64_t first_col, int64_t cols) const {
  if (!block_) return {};
  return {block_->numbers.get() + first_col, count_, cols, block_->stride()};
}

// A block of its own with room for `rows` more: twice to three times what there is, one entry more and the next one
// less. So sequences that began together do not all grow, and copy what they have, in the same step.
void KeyValueCache::Entry::reallocate(int64_t rows, int64_t key_cols, int64_t value_cols) {
  constexpr int64_t kSizes = 16;
  static std::atomic<uint64_t> grown = 0;
  const auto turn = static_cast<int64_t>(grown.fetch_add(1, std::memory_order_relaxed) % kSizes);
  int64_t wished = 2 * count_ + kFirstRows + count_ * turn / kSizes;
  if (limit_ > 0) wished = std::min(wished, limit_);
  const int64_t capacity = std::max(count_ + rows, wished);
  auto block = std::make_shared<Block>(key_cols, value_cols, capacity, bytes_);
  const Matrix to = block->rows(0, count_);
  if (row_indices_.empty()) {
    if (block_) copy_rows(block_->rows(0, count_), to);
  } else {
    for (int64_t i = 0; i < count_; ++i) copy_rows(block_->rows(row_indices_[i], 1), to.rows_from(i, 1));
    row_indices_.clear();
  }
  block->filled = count_;
  block_ = std::move(block);
}

// Room for `rows` more that no other sequence has written to: behind those of this sequence, or for a single row
// anywhere in its block.
void KeyValueCache::Entry::make_room(int64_t rows, int64_t key_cols, int64_t value_cols) {
  const bool in_order = block_ && row_indices_.empty() && block_->filled == count_;
  if (block_ && (in_order || rows == 1) && block_->filled + rows <= block_->capacity) return;
  reallocate(rows, key_cols, value_cols);
}

void KeyValueCache::Entry::compact() {
  if (!row_indices_.empty()) reallocate(0, key_cols(), value_cols());
}

void KeyValueCache::Entry::append(ConstMatrix keys, ConstMatrix values) {
  check(count_ == 0 || (keys.cols == key_cols() && values.cols == value_cols()),
        "[cache] rows of {} + {} numbers after rows of {} + {}", keys.cols, values.cols, key_cols(), value_cols());
  if (keys.rows == 0) return;
  if (count_ == 0) block_.reset();  // another's, of which nothing was taken
  make_room(keys.rows, keys.cols, values.cols);
  const int64_t first = block_->filled;
  const Matrix to = block_->rows(first, keys.rows);
  copy_rows(keys, to.cols_from(0, keys.cols));
  copy_rows(values, to.cols_from(keys.cols, values.cols));
  if (first != count_ && row_indices_.empty()) {
    row_indices_.resize(count_);
    std::iota(row_indices_.begin(), row_indices_.end(), 0);
  }
  if (first != count_) row_indices_.push_back(static_cast<int32_t>(first));
  count_ += keys.rows;
  block_->filled += keys.rows;
}

void KeyValueCache::Entry::shorten(int64_t count) {
  count_ = std::min(count_, count);
  if (static_cast<int64_t>(row_indices_.size()) > count_) row_indices_.resize(count_);
  if (count_ == 0) block_.reset();
}

int64_t KeyValueCache::Saved::bytes() const {
  int64_t sum = 0;
  for (const Entry& entry : layers) sum += entry.block_ ? entry.block_->bytes() : 0;
  return sum;
}

// Entries of sequences that the layer has not seen yet.
void KeyValueCache::fill(std::vector<Entry>& entries) const {
  for (size_t i = entries.size(); i < lengths_.size(); ++i) {
    Entry& entry = entries.emplace_back();
    entry.limit_ = limits_[i];
    entry.bytes_ = bytes_;
  }
}

std::vector<KeyValueCache::Entry>& KeyValueCache::layer(int64_t index) {
  if (index >= static_cast<int64_t>(layers_.size())) layers_.resize(index + 1);
  fill(layers_[index]);
  return layers_[index];
}

void KeyValueCache::add(int64_t sequences, int64_t limit) {
  lengths_.resize(lengths_.size() + sequences);
  limits_.resize(lengths_.size(), limit);
  for (auto& entries : layers_) fill(entries);
}

void KeyValueCache::add(const Saved& saved, int64_t length, int64_t limit) {
  check(length >= 0 && length <= saved.length, "[cache] {} tokens of {} that were saved", length, saved.length);
  add(1, limit);
  if (layers_.size() < saved.layers.size()) layers_.resize(saved.layers.size());
  for (size_t i = 0; i < saved.layers.size(); ++i) {
    fill(layers_[i]);
    Entry& entry = layers_[i].back();
    entry.block_ = saved.layers[i].block_;
    entry.row_indices_ = saved.layers[i].row_indices_;
    entry.count_ = saved.layers[i].count_;
    entry.shorten(length);
    // A block larger than this sequence may have would count for nobody once those it came from are gone.
    if (limit > 0 && entry.block_ && entry.block_->capacity > std::max(limit, length))
      entry.reallocate(0, entry.key_cols(), entry.value_cols());
  }
  lengths_.back() = length;
}

KeyValueCache::Saved KeyValueCache::save(int64_t sequence) const {
  Saved saved{.length = lengths_.at(sequence)};
  for (const auto& entries : layers_)
    saved.layers.push_back(sequence < static_cast<int64_t>(entries.size()) ? entries[sequence] : Entry{});
  return saved;
}

void KeyValueCache::reorder(std::span<const int32_t> sequences) {
  std::vector<int64_t> lengths, limits;
  for (int32_t i : sequences) {
    lengths.push_back(lengths_.at(i));
    limits.push_back(limits_.at(i));
  }
  for (auto& entries : layers_) {
    fill(entries);  // a layer that nobody has asked for yet has none
    std::vector<Entry> kept;
    kept.reserve(sequences.size());
    for (int32_t i : sequences) kept.push_back(entries[i]);
    entries = std::move(kept);
  }
  lengths_ = std::move(lengths);
  limits_ = std::move(limits);
}

}  // namespace limpid
