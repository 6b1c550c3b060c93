#include "kernels/quantized_rows.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/parallel.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantized_rows.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Bytes = hn::Rebind<int8_t, Floats>;

HWY_INLINE hn::Vec<Floats> load_floats(const float* x, int64_t left) {
  const Floats d;
  return left >= static_cast<int64_t>(hn::Lanes(d)) ? hn::LoadU(d, x) : load_partial(d, x, static_cast<size_t>(left));
}

// The largest |x| as bits: of these NaN is the largest, then infinity.
int32_t largest_bits(const float* x, int64_t n) {
  const Ints d;
  auto largest = hn::Zero(d);
  for (int64_t j = 0; j < n; j += static_cast<int64_t>(hn::Lanes(d)))
    largest = hn::Max(largest, hn::BitCast(d, hn::Abs(load_floats(x + j, n - j))));
  return max_lanes(d, largest);
}

// q = round(x·inverse); returns Σq. Writes whole vectors: q has room.
int32_t quantize_block(const float* x, int64_t n, float inverse, int8_t* q) {
  const Floats d;
  const Ints di;
  const auto factor = hn::Set(d, inverse);
  auto sum = hn::Zero(di);
  for (int64_t j = 0; j < n; j += static_cast<int64_t>(hn::Lanes(d))) {
    const auto rounded = hn::NearestInt(hn::Mul(load_floats(x + j, n - j), factor));
    sum = hn::Add(sum, rounded);
    hn::StoreU(hn::DemoteTo(Bytes(), rounded), Bytes(), q + j);
  }
  return sum_lanes(di, sum);
}

void quantize_row(const float* x, int64_t n, int64_t block, int32_t offset, bool halves, int8_t* q, float* scales,
                  int32_t* starts) {
  for (int64_t begin = 0; begin < n; begin += block) {
    const int64_t count = std::min(block, n - begin);
    const int32_t bits = largest_bits(x + begin, count);
    const bool finite = bits < 0x7f800000;
    const float largest = finite ? std::bit_cast<float>(bits) : 0;
    const bool any = largest > 1e-30f;  // else 127 / largest is infinite
    const float inverse = any ? 127 / largest : 0;
    *scales++ = finite ? (any ? largest / 127 : 0) : std::numeric_limits<float>::quiet_NaN();
    const int64_t part = halves ? block / 2 : count;
    for (int64_t i = 0; i < count; i += part) {
      const int32_t sum = quantize_block(x + begin + i, part, inverse, q + begin + i);
      *starts++ = finite ? -offset * sum : 0;  // of NaN no integer is meant
    }
  }
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(quantize_row);

namespace kernels {
namespace {

// The row as floats: itself, or in the build that computes in double a copy.
template <class Real>
const float* as_floats(const Real* row, int64_t n, std::vector<float>& copy) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return row;
  } else {
    copy.assign(row, row + n);
    return copy.data();
  }
}

}  // namespace

void QuantizedRows::quantize(ConstMatrix x, int64_t block, int32_t offset, bool halves) {
  constexpr int64_t kRange = 16 * 1024;  // numbers one range works on
  const int64_t size = block > 0 ? block : std::max<int64_t>(1, x.cols);
  rows_ = x.rows;
  blocks_ = std::max<int64_t>(1, (x.cols + size - 1) / size);
  starts_per_row_ = blocks_ * (halves ? 2 : 1);
  stride_ = (x.cols + 63) / 64 * 64;  // whole vectors can be written
  quants_.resize(std::max<size_t>(quants_.size(), static_cast<size_t>(rows_ * stride_)));
  factors_.resize(std::max<size_t>(factors_.size(), static_cast<size_t>(rows_ * blocks_)));
  starts_.resize(std::max<size_t>(starts_.size(), static_cast<size_t>(rows_ * starts_per_row_)));
  parallel_ranges(rows_, std::max<int64_t>(1, kRange / std::max<int64_t>(1, x.cols)), [&](int64_t begin, int64_t end) {
    std::vector<float> copy;
    for (int64_t i = begin; i < end; ++i) {
      int8_t* const q = quants_.data() + i * stride_;
      std::fill(q + x.cols, q + stride_, int8_t{0});
      HWY_DYNAMIC_DISPATCH(quantize_row)
      (as_floats(x.row(i), x.cols, copy), x.cols, size, offset, halves, q, factors_.data() + i * blocks_,
       starts_.data() + i * starts_per_row_);
    }
  });
}

}  // namespace kernels
}  // namespace limpid
#endif
