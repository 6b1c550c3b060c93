#include "formats/weight_holder.h"

#include <cstring>

#include "tensor/quantize.h"

namespace limpid {

void WeightHolder::point(Weight& weight, DType type, const std::byte* numbers) {
  weight.point_to(type, numbers);
  const bool aligned = reinterpret_cast<uintptr_t>(numbers) % static_cast<uintptr_t>(alignment_of(type)) == 0;
  if (aligned && (type == kRealType || weight.is_matrix())) return;
  const Weight stored = weight;
  read_numbers(stored, make_reals(weight));
}

std::byte* WeightHolder::make(Weight& weight, DType type) {
  made_.emplace_back(new std::byte[static_cast<size_t>(bytes_of(type, weight.size()))]);
  weight.point_to(type, made_.back().get());
  return made_.back().get();
}

float* WeightHolder::make_factors(Weight& weight) {
  made_.emplace_back(new std::byte[static_cast<size_t>(weight.shape[0]) * sizeof(float)]);
  auto* const scales = reinterpret_cast<float*>(made_.back().get());
  weight.scales = scales;
  return scales;
}

void copy_from_file_order(const std::vector<int32_t>& file_rows, const std::byte* file, int64_t row_bytes,
                          std::byte* ours) {
  for (size_t i = 0; i < file_rows.size(); ++i)
    std::memcpy(ours + static_cast<int64_t>(i) * row_bytes, file + file_rows[i] * row_bytes,
                static_cast<size_t>(row_bytes));
}

void copy_to_file_order(const std::vector<int32_t>& file_rows, const std::byte* ours, int64_t row_bytes,
                        std::byte* file) {
  for (size_t i = 0; i < file_rows.size(); ++i)
    std::memcpy(file + file_rows[i] * row_bytes, ours + static_cast<int64_t>(i) * row_bytes,
                static_cast<size_t>(row_bytes));
}

void copy_adjacent_pairs(const std::byte* theirs, int64_t rows, int64_t row_bytes, int64_t head_size, std::byte* ours) {
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(ours + row * row_bytes, theirs + adjacent_pair_row(row, head_size) * row_bytes,
                static_cast<size_t>(row_bytes));
}

}  // namespace limpid
