// The numbers of GGUF's blocks. Both kinds have 32 numbers with one factor d, a float16:
//   Q8_0   d, 32 int8 q:            x = d·q
//   Q4_0   d, 16 bytes:             x = d·(q − 8), the low halves of the bytes first, then the high ones

#include <cstring>

#include "base/error.h"
#include "base/parallel.h"
#include "formats/gguf_model.h"
#include "formats/json.h"

namespace limpid {
namespace {

constexpr int64_t kBlock = 32;

float factor_of(const std::byte* block) {
  uint16_t bits = 0;
  std::memcpy(&bits, block, sizeof bits);
  return from_f16(bits);
}

void read_q8_0(const std::byte* block, real* out) {
  const float factor = factor_of(block);
  for (int64_t i = 0; i < kBlock; ++i)
    out[i] = static_cast<real>(factor * static_cast<float>(static_cast<int8_t>(block[2 + i])));
}

void read_q4_0(const std::byte* block, real* out) {
  const float factor = factor_of(block);
  for (int64_t i = 0; i < kBlock / 2; ++i) {
    const int byte = std::to_integer<int>(block[2 + i]);
    out[i] = static_cast<real>(factor * static_cast<float>((byte & 15) - 8));
    out[i + kBlock / 2] = static_cast<real>(factor * static_cast<float>((byte >> 4) - 8));
  }
}

}  // namespace

void read_gguf_reals(const GgufTensor& tensor, real* out, const std::string& where) {
  const std::string_view name = tensor.type ? tensor.type->name : "";
  if (const auto type = number_type_named(name)) return to_real(*type, tensor.bytes.data(), tensor.count(), out);
  check(name == "Q8_0" || name == "Q4_0",
        "{}: tensor {} holds numbers of type {}: Limpid reads F32, F16, BF16, Q8_0 and Q4_0", where,
        in_quotes(tensor.name), name.empty() ? std::to_string(tensor.type_id) : std::string(name));
  const auto read = name == "Q8_0" ? read_q8_0 : read_q4_0;
  parallel_ranges(tensor.count() / kBlock, 512, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) read(tensor.bytes.data() + i * tensor.type->bytes, out + i * kBlock);
  });
}

}  // namespace limpid
