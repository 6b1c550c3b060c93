#pragma once
// Which instruction sets the kernels are compiled for. Every SIMD source reads
//
//   #include "kernels/simd.h"
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "kernels/<this file>.cpp"
//   #include <hwy/foreach_target.h>
//   #include "kernels/simd-inl.h"
//
// On x86 that is AVX-512, AVX2, SSE4 and, for what is older, Highway's baseline, a lane at a time; the sets between
// them would cost compile time and size for no machine in use. Elsewhere it is all that Highway offers with vectors of
// a known size: vectors of unknown size (SVE, RVV) cannot be members or stand in arrays, and the kernels keep theirs in
// both.

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif

#include <hwy/detect_targets.h>
