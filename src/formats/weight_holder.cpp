#include "formats/weight_holder.h"

#include <cstring>

namespace limpid {

void WeightHolder::point(Weight& weight, NumberType type, const std::byte* numbers) {
  const bool aligned = reinterpret_cast<uintptr_t>(numbers) % static_cast<uintptr_t>(bytes_of(type)) == 0;
  if (!aligned || (type != kRealType && !weight.is_matrix()))
    return to_real(type, numbers, weight.size(), make_reals(weight));
  weight.offset = weight.index = -1;  // not trained
  weight.type = type;
  weight.data = numbers;
}

std::byte* WeightHolder::make(Weight& weight, NumberType type) {
  made_.emplace_back(new std::byte[static_cast<size_t>(bytes_of(type, weight.size()))]);
  weight.offset = weight.index = -1;
  weight.type = type;
  weight.data = made_.back().get();
  return made_.back().get();
}

void copy_adjacent_pairs(const std::byte* theirs, int64_t rows, int64_t row_bytes, int64_t head_size, std::byte* ours) {
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(ours + row * row_bytes, theirs + adjacent_pair_row(row, head_size) * row_bytes,
                static_cast<size_t>(row_bytes));
}

}  // namespace limpid
