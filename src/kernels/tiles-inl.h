// What tiles of registers need: loops over a constant number of steps, and work cut into equal pieces. For each
// instruction set: hence the guard that is toggled. Include after hwy/foreach_target.h.
#if defined(LIMPID_KERNELS_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_KERNELS_TILES_INL_H_
#undef LIMPID_KERNELS_TILES_INL_H_
#else
#define LIMPID_KERNELS_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {

constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64;  // 32, otherwise 16

// Calls body(0), …, body(kCount - 1) with constants: unrolled from the start, so that arrays become registers.
template <int64_t kCount, class Body>
HWY_INLINE void unroll(const Body& body) {
  [&]<int64_t... i>(std::integer_sequence<int64_t, i...>) HWY_ATTR {
    (body(std::integral_constant<int64_t, i>()), ...);
  }
  (std::make_integer_sequence<int64_t, kCount>());
}

// The next of pieces of nearly equal size, none above `most`, that `left` is cut into.
constexpr int64_t next_piece(int64_t left, int64_t most) {
  const int64_t pieces = (left + most - 1) / most;
  return (left + pieces - 1) / pieces;
}

}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the guard that is toggled
