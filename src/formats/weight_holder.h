#pragma once
// WeightHolder: what a model's weights point into, where they come from files that are not safetensors: the open files,
// and numbers that had to be made from theirs. Must outlive the model's use.

#include <cstddef>
#include <memory>
#include <vector>

#include "tensor/weight.h"

namespace limpid {

class WeightHolder {
 public:
  void keep(std::shared_ptr<const void> file) { files_.push_back(std::move(file)); }

  // The weight's numbers are these, which lie in a file that is kept. Copied where the weight must be of another type
  // (vectors are reals) or where the numbers are not aligned.
  void point(Weight& weight, DType type, const std::byte* numbers);

  // New memory for the weight's numbers, to be filled; and for the scales of its rows, where the type is q8.
  std::byte* make(Weight& weight, DType type);
  float* make_factors(Weight& weight);
  real* make_reals(Weight& weight) { return reinterpret_cast<real*>(make(weight, kRealType)); }

 private:
  std::vector<std::shared_ptr<const void>> files_;
  std::vector<std::unique_ptr<std::byte[]>> made_;
};

// Rotary positions turn pairs of a head's numbers: numbers i and i + half in Hugging Face's order, which is ours, and
// numbers 2i and 2i + 1 in that of llama2.c and of GGUF's Llama. So the rows of a query or key matrix lie in another
// order: the row of theirs that is this one of ours.
inline int64_t adjacent_pair_row(int64_t row, int64_t head_size) {
  const int64_t in_head = row % head_size, half = head_size / 2;
  return row - in_head + (in_head < half ? 2 * in_head : 2 * (in_head - half) + 1);
}

// Rows of so many bytes between the order of a file and ours (Weight::file_rows).
void copy_from_file_order(const std::vector<int32_t>& file_rows, const std::byte* file, int64_t row_bytes,
                          std::byte* ours);
void copy_to_file_order(const std::vector<int32_t>& file_rows, const std::byte* ours, int64_t row_bytes,
                        std::byte* file);

// Copies rows of so many bytes from their order to ours.
void copy_adjacent_pairs(const std::byte* theirs, int64_t rows, int64_t row_bytes, int64_t head_size, std::byte* ours);

}  // namespace limpid
