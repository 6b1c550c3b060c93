#pragma once
// The block types of GGUF beside q8_0 and q4_0 (tensor/dtype.h): numbers in blocks, small integers q with scales
// d and, of some types, minima m.
//
//   type   numbers, bytes of a block   of 32 numbers (of 16 where two are named)
//   q4_1        32, 20                 4-bit q, d and m in 16 bits                              x = d·q + m
//   q5_0        32, 22                 5-bit q, d in 16 bits                                    x = d·(q − 16)
//   q5_1        32, 24                 5-bit q, d and m in 16 bits                              x = d·q + m
//   q2_k       256, 84                 2-bit q; 4-bit factor s and minimum t per 16             x = d·s·q − d'·t
//   q3_k       256, 110                3-bit q; 6-bit factor s per 16                           x = d·(s − 32)·(q − 4)
//   q4_k       256, 144                4-bit q; 6-bit s and t per 32                            x = d·s·q − d'·t
//   q5_k       256, 176                5-bit q; 6-bit s and t per 32                            x = d·s·q − d'·t
//   q6_k       256, 210                6-bit q; 8-bit s per 16                                  x = d·s·(q − 32)
//   iq4_nl      32, 18                 4-bit q, which choose from a list of 16, d in 16 bits    x = d·kFourBitLevels[q]
//
// All of them are, 32 numbers at a time, small integers with a factor and a minimum for each half: SubBlock. Products
// and conversions know nothing else.

#include <array>
#include <cstddef>

#include "tensor/dtype.h"

namespace limpid {

struct BlockType {
  DType type;
  std::string_view name;
  int64_t numbers, bytes;  // of a block
  bool affine;             // has minima; else q is signed
  bool halves;             // scales for 16 numbers, not 32
  int bits;                // that q takes: 4 (or fewer), 5, 6 or 8
};
const BlockType* block_type(DType type);  // nullptr: another type
const BlockType* block_type_named(std::string_view name);
int64_t block_numbers(DType type);  // of any type that lies in blocks

// Close together about zero, where most weights are.
inline constexpr std::array<int8_t, 16> kFourBitLevels = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                          1,    13,   25,  38,  53,  69,  89,  113};

// 32 numbers: x = factor·q − minimum, of the first and of the last 16. Of types with blocks of 256 these are whole
// multiples of what the block has once: factor = unit·steps, minimum = minimum_unit·minimum_steps.
struct SubBlock {
  std::array<int8_t, 32> q;
  std::array<float, 2> factor, minimum;
  std::array<int8_t, 2> steps = {}, minimum_steps = {};
  float unit = 0, minimum_unit = 0;
};
// Number `index` of them in a row.
SubBlock read_sub_block(DType type, const std::byte* row, int64_t index);

}  // namespace limpid
