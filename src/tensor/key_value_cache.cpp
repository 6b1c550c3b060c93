#include "tensor/key_value_cache.h"

#include <algorithm>

#include "base/error.h"

namespace limpid {

struct KeyValueCache::Entry::Block {
  int64_t key_cols, value_cols;
  int64_t capacity;  // rows
  int64_t filled;    // rows that some sequence has written
  std::unique_ptr<real[]> numbers;

  int64_t stride() const { return key_cols + value_cols; }
};

int64_t KeyValueCache::Entry::key_cols() const { return block_ ? block_->key_cols : 0; }
int64_t KeyValueCache::Entry::value_cols() const { return block_ ? block_->value_cols : 0; }

ConstMatrix KeyValueCache::Entry::part(int64_t first_col, int64_t cols) const {
  if (!block_) return {};
  return {block_->numbers.get() + first_col, count_, cols, block_->stride()};
}

// Room for `rows` more behind those of this sequence, that no other sequence has written to.
void KeyValueCache::Entry::make_room(int64_t rows, int64_t key_cols, int64_t value_cols) {
  if (block_ && block_->filled == count_ && count_ + rows <= block_->capacity) return;
  constexpr int64_t kFirstRows = 16;
  const int64_t capacity = count_ == 0 ? std::max(rows, kFirstRows) : std::max(count_ + rows, 2 * count_);
  const int64_t stride = key_cols + value_cols;
  auto block = std::make_shared<Block>(
      Block{key_cols, value_cols, capacity, count_, std::make_unique_for_overwrite<real[]>(capacity * stride)});
  if (block_) std::copy_n(block_->numbers.get(), count_ * stride, block->numbers.get());
  block_ = std::move(block);
}

void KeyValueCache::Entry::append(ConstMatrix keys, ConstMatrix values) {
  check(count_ == 0 || (keys.cols == key_cols() && values.cols == value_cols()),
        "[cache] rows of {} + {} numbers after rows of {} + {}", keys.cols, values.cols, key_cols(), value_cols());
  if (keys.rows == 0) return;
  make_room(keys.rows, keys.cols, values.cols);
  real* to = block_->numbers.get() + count_ * block_->stride();
  for (int64_t i = 0; i < keys.rows; ++i) {
    to = std::copy_n(keys.row(i), keys.cols, to);
    to = std::copy_n(values.row(i), values.cols, to);
  }
  count_ += keys.rows;
  block_->filled = count_;
}

std::vector<KeyValueCache::Entry>& KeyValueCache::layer(int64_t index) {
  if (index >= static_cast<int64_t>(layers_.size())) layers_.resize(index + 1);
  layers_[index].resize(lengths_.size());
  return layers_[index];
}

void KeyValueCache::add(int64_t sequences) {
  lengths_.resize(lengths_.size() + sequences);
  for (auto& entries : layers_) entries.resize(lengths_.size());
}

void KeyValueCache::keep(std::span<const int32_t> sequences) {
  std::vector<int64_t> lengths;
  for (int32_t i : sequences) lengths.push_back(lengths_.at(i));
  for (auto& entries : layers_) {
    entries.resize(lengths_.size());  // a layer that nobody has asked for yet has none
    std::vector<Entry> kept;
    kept.reserve(sequences.size());
    for (int32_t i : sequences) kept.push_back(entries[i]);
    entries = std::move(kept);
  }
  lengths_ = std::move(lengths);
}

}  // namespace limpid
