// The loops are plain C++, compiled once for each instruction set and chosen at run time: gcc and clang turn the
// branch-free conversions of the header into vector code, which memory then bounds.
#include "tensor/dtype.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/dtype.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)  // no faster here than the baseline, SSE2
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

template <class Stored, class Convert>
void convert_to_real(const std::byte* in, int64_t count, real* out, Convert convert) {
  for (int64_t i = 0; i < count; ++i) {
    Stored number;
    std::memcpy(&number, in + i * sizeof(Stored), sizeof(Stored));  // any alignment
    out[i] = static_cast<real>(convert(number));
  }
}

template <class Stored, class Convert>
void convert_from_real(const real* in, int64_t count, std::byte* out, Convert convert) {
  for (int64_t i = 0; i < count; ++i) {
    const Stored number = convert(in[i]);
    std::memcpy(out + i * sizeof(Stored), &number, sizeof(Stored));
  }
}

void range_to_real(DType type, const std::byte* in, int64_t count, real* out) {
  switch (type) {
    case DType::f64: return convert_to_real<double>(in, count, out, [](double x) { return x; });
    case DType::f32: return convert_to_real<float>(in, count, out, [](float x) { return x; });
    case DType::f16: return convert_to_real<uint16_t>(in, count, out, [](uint16_t x) { return from_f16(x); });
    case DType::bf16: return convert_to_real<uint16_t>(in, count, out, [](uint16_t x) { return from_bf16(x); });
    default: break;  // callers check
  }
}

void range_from_real(const real* in, int64_t count, DType type, std::byte* out) {
  switch (type) {
    case DType::f64: return convert_from_real<double>(in, count, out, [](real x) { return static_cast<double>(x); });
    case DType::f32: return convert_from_real<float>(in, count, out, [](real x) { return static_cast<float>(x); });
    case DType::f16: return convert_from_real<uint16_t>(in, count, out, [](real x) { return to_f16(x); });
    case DType::bf16: return convert_from_real<uint16_t>(in, count, out, [](real x) { return to_bf16(x); });
    default: break;  // callers check
  }
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "base/error.h"
#include "base/parallel.h"
#include "tensor/block_types.h"

namespace limpid {
namespace {

HWY_EXPORT(range_to_real);
HWY_EXPORT(range_from_real);

constexpr int64_t kGrain = 1 << 14;  // numbers per range: 64 kB of float

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

}  // namespace

int64_t bytes_of(DType type, int64_t count) {
  if (const BlockType* blocks = block_type(type)) return count / blocks->numbers * blocks->bytes;
  switch (type) {
    case DType::f64: return count * 8;
    case DType::f32: return count * 4;
    case DType::f16:
    case DType::bf16: return count * 2;
    case DType::q8_0: return count / kBlockNumbers * (2 + kBlockNumbers);
    case DType::q4_0: return count / kBlockNumbers * (2 + kBlockNumbers / 2);
    case DType::q8: return count;
    default: fail("[dtype] {} is no type of number", static_cast<int>(type));
  }
}

int64_t alignment_of(DType type) { return is_quantized(type) ? 1 : bytes_of(type); }

std::string_view name_of(DType type) {
  if (const BlockType* blocks = block_type(type)) return blocks->name;
  switch (type) {
    case DType::f64: return "F64";
    case DType::f32: return "F32";
    case DType::f16: return "F16";
    case DType::bf16: return "BF16";
    case DType::q8_0: return "Q8_0";
    case DType::q4_0: return "Q4_0";
    case DType::q8: return "Q8";
    default: fail("[dtype] {} is no type of number", static_cast<int>(type));
  }
}

std::optional<DType> dtype_named(std::string_view name) {
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0, DType::q8})
    if (name == name_of(type)) return type;
  if (const BlockType* blocks = block_type_named(name)) return blocks->type;
  return std::nullopt;
}

void to_real(DType type, const void* numbers, int64_t count, real* out) {
  check(!is_quantized(type), "[dtype] {} is quantised: its numbers are read by rows", name_of(type));
  const auto* const in = static_cast<const std::byte*>(numbers);
  parallel_ranges(count, kGrain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(range_to_real)(type, in + bytes_of(type, begin), end - begin, out + begin);
  });
}

void from_real(const real* numbers, int64_t count, DType type, void* out) {
  check(!is_quantized(type), "[dtype] {} is quantised: its numbers are written by rows", name_of(type));
  auto* const bytes = static_cast<std::byte*>(out);
  parallel_ranges(count, kGrain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(range_from_real)(numbers + begin, end - begin, type, bytes + bytes_of(type, begin));
  });
}

}  // namespace limpid
#endif  // HWY_ONCE
