#include "tensor/block_types.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace limpid {
namespace {

constexpr std::array<BlockType, 9> kBlockTypes = {{{DType::q4_1, "Q4_1", 32, 20, true, false, 4},
                                                   {DType::q5_0, "Q5_0", 32, 22, false, false, 5},
                                                   {DType::q5_1, "Q5_1", 32, 24, true, false, 5},
                                                   {DType::q2_k, "Q2_K", 256, 84, true, true, 4},
                                                   {DType::q3_k, "Q3_K", 256, 110, false, true, 4},
                                                   {DType::q4_k, "Q4_K", 256, 144, true, false, 4},
                                                   {DType::q5_k, "Q5_K", 256, 176, true, false, 5},
                                                   {DType::q6_k, "Q6_K", 256, 210, false, true, 6},
                                                   {DType::iq4_nl, "IQ4_NL", 32, 18, false, false, 8}}};

constexpr size_t place_of(DType type) { return static_cast<size_t>(type) - static_cast<size_t>(DType::q4_1); }

static_assert(std::all_of(kBlockTypes.begin(), kBlockTypes.end(),
                          [](const BlockType& one) { return &one == &kBlockTypes[place_of(one.type)]; }),
              "the table is in the order of the enumerators");

class Block {
 public:
  explicit Block(const std::byte* bytes) : bytes_(bytes) {}

  int byte(int64_t at) const { return std::to_integer<int>(bytes_[at]); }
  float half(int64_t at) const {
    uint16_t bits = 0;
    std::memcpy(&bits, bytes_ + at, sizeof bits);
    return from_f16(bits);
  }
  // Four bits: of 16 bytes the low halves are the first 16 numbers, the high halves the last 16.
  int nibble(int64_t at, int i) const { return i < 16 ? byte(at + i) & 15 : byte(at + i - 16) >> 4; }
  int bit(int64_t at, int i) const { return byte(at + i / 8) >> (i % 8) & 1; }

 private:
  const std::byte* bytes_;
};

template <class Number>
void fill(SubBlock& sub, const Number& number) {
  for (int i = 0; i < 32; ++i) sub.q[static_cast<size_t>(i)] = static_cast<int8_t>(number(i));
}

// A factor and a minimum of 6 bits each, eight pairs in twelve bytes: of the first four the low 6 bits of bytes 0–3 and
// 4–7; of the others 4 bits in bytes 8–11 and the 2 bits above those of the first four.
std::array<int, 2> pair_of_six(const Block& block, int64_t at, int i) {
  if (i < 4) return {block.byte(at + i) & 63, block.byte(at + i + 4) & 63};
  const int low = block.byte(at + i + 4);
  return {(low & 15) | (block.byte(at + i - 4) >> 6) << 4, low >> 4 | (block.byte(at + i) >> 6) << 4};
}

void set_both(SubBlock& sub, float factor, float minimum) {
  sub.factor = {factor, factor};
  sub.minimum = {minimum, minimum};
}

// Of half h.
void set_steps(SubBlock& sub, size_t h, int steps, int minimum_steps = 0) {
  sub.steps[h] = static_cast<int8_t>(steps);
  sub.minimum_steps[h] = static_cast<int8_t>(minimum_steps);
  sub.factor[h] = sub.unit * static_cast<float>(steps);
  sub.minimum[h] = sub.minimum_unit * static_cast<float>(minimum_steps);
}

void read_q4_k(const Block& block, int index, bool fifth_bit, SubBlock& sub) {
  const auto [factor, minimum] = pair_of_six(block, 4, index);
  sub.unit = block.half(0);
  sub.minimum_unit = block.half(2);
  for (size_t h = 0; h < 2; ++h) set_steps(sub, h, factor, minimum);
  const int64_t quants = (fifth_bit ? 48 : 16) + 32 * (index / 2);
  fill(sub, [&](int i) {
    const int byte = block.byte(quants + i), low = index % 2 == 0 ? byte & 15 : byte >> 4;
    return fifth_bit ? low | (block.byte(16 + i) >> index & 1) << 4 : low;
  });
}

void read_q2_k(const Block& block, int index, SubBlock& sub) {
  const int half = index / 4, shift = 2 * (index % 4);
  sub.unit = block.half(80);
  sub.minimum_unit = block.half(82);
  for (int h = 0; h < 2; ++h) {
    const int pair = block.byte(8 * half + 2 * (index % 4) + h);
    set_steps(sub, static_cast<size_t>(h), pair & 15, pair >> 4);
  }
  fill(sub, [&](int i) { return block.byte(16 + 32 * half + i) >> shift & 3; });
}

void read_q3_k(const Block& block, int index, SubBlock& sub) {
  const int half = index / 4, shift = 2 * (index % 4);
  sub.unit = block.half(108);
  for (int h = 0; h < 2; ++h) {
    const int i = 2 * index + h;
    const int low = i < 8 ? block.byte(96 + i) & 15 : block.byte(96 + i - 8) >> 4;
    const int high = block.byte(104 + i % 4) >> (2 * (i / 4)) & 3;
    set_steps(sub, static_cast<size_t>(h), (low | high << 4) - 32);
  }
  fill(sub, [&](int i) {
    return (block.byte(32 + 32 * half + i) >> shift & 3) - ((block.byte(i) >> index & 1) != 0 ? 0 : 4);
  });
}

void read_q6_k(const Block& block, int index, SubBlock& sub) {
  const int half = index / 4, quarter = index % 4;
  sub.unit = block.half(208);
  for (int h = 0; h < 2; ++h)
    set_steps(sub, static_cast<size_t>(h), static_cast<int8_t>(block.byte(192 + 2 * index + h)));
  fill(sub, [&](int i) {
    const int byte = block.byte(64 * half + 32 * (quarter % 2) + i);
    const int high = block.byte(128 + 32 * half + i) >> (2 * quarter) & 3;
    return ((quarter < 2 ? byte & 15 : byte >> 4) | high << 4) - 32;
  });
}

}  // namespace

const BlockType* block_type(DType type) {
  const size_t at = place_of(type);
  return at < kBlockTypes.size() ? &kBlockTypes[at] : nullptr;
}

const BlockType* block_type_named(std::string_view name) {
  const auto found =
      std::find_if(kBlockTypes.begin(), kBlockTypes.end(), [&](const BlockType& one) { return one.name == name; });
  return found == kBlockTypes.end() ? nullptr : &*found;
}

int64_t block_numbers(DType type) {
  const BlockType* blocks = block_type(type);
  return blocks ? blocks->numbers : kBlockNumbers;
}

SubBlock read_sub_block(DType type, const std::byte* row, int64_t index) {
  const BlockType* kind = block_type(type);
  check(kind != nullptr, "[block types] {} is none", static_cast<int>(type));
  const int64_t per_block = kind->numbers / 32;
  const Block block(row + index / per_block * kind->bytes);
  const auto in_block = static_cast<int>(index % per_block);
  SubBlock sub;
  if (type == DType::q2_k) {
    read_q2_k(block, in_block, sub);
  } else if (type == DType::q3_k) {
    read_q3_k(block, in_block, sub);
  } else if (type == DType::q4_k || type == DType::q5_k) {
    read_q4_k(block, in_block, type == DType::q5_k, sub);
  } else if (type == DType::q6_k) {
    read_q6_k(block, in_block, sub);
  } else if (type == DType::q4_1) {
    set_both(sub, block.half(0), -block.half(2));
    fill(sub, [&](int i) { return block.nibble(4, i); });
  } else if (type == DType::iq4_nl) {
    set_both(sub, block.half(0), 0);
    fill(sub, [&](int i) { return kFourBitLevels[static_cast<size_t>(block.nibble(2, i))]; });
  } else if (type == DType::q5_0) {
    set_both(sub, block.half(0), 0);
    fill(sub, [&](int i) { return (block.nibble(6, i) | block.bit(2, i) << 4) - 16; });
  } else {  // q5_1
    set_both(sub, block.half(0), -block.half(2));
    fill(sub, [&](int i) { return block.nibble(8, i) | block.bit(4, i) << 4; });
  }
  return sub;
}

}  // namespace limpid
