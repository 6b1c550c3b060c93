#include "tensor/key_value_cache.h"

#include "base/error.h"

namespace limpid {

void KeyValueCache::Rows::append(ConstMatrix rows) {
  check(count_ == 0 || rows.cols == cols_, "[cache] rows of {} numbers after rows of {}", rows.cols, cols_);
  cols_ = rows.cols;
  for (int64_t i = 0; i < rows.rows; ++i) numbers_.insert(numbers_.end(), rows.row(i), rows.row(i) + rows.cols);
  count_ += rows.rows;
}

std::vector<KeyValueCache::Entry>& KeyValueCache::layer(int64_t index) {
  if (index >= static_cast<int64_t>(layers_.size())) layers_.resize(index + 1);
  layers_[index].resize(sequences_);
  return layers_[index];
}

void KeyValueCache::advance(int64_t sequence, int64_t tokens) {
  lengths_.resize(sequences_);
  lengths_[sequence] += tokens;
}

}  // namespace limpid
