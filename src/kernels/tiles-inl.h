// A loop over a constant number of steps, for tiles of registers, for each instruction set: hence the guard that is
// toggled. Include after hwy/foreach_target.h.
#if defined(LIMPID_KERNELS_UNROLL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_KERNELS_UNROLL_INL_H_
#undef LIMPID_KERNELS_UNROLL_INL_H_
#else
#define LIMPID_KERNELS_UNROLL_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {

// Calls body(0), …, body(kCount - 1) with constants: unrolled from the start, so that arrays become registers.
template <int64_t kCount, class Body>
HWY_INLINE void unroll(const Body& body) {
  [&]<int64_t... i>(std::integer_sequence<int64_t, i...>) HWY_ATTR {
    (body(std::integral_constant<int64_t, i>()), ...);
  }
  (std::make_integer_sequence<int64_t, kCount>());
}

}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the guard that is toggled
