#pragma once
// Which instruction sets the products of quantised matrices are compiled for: those of kernels/simd.h and AVX-512 with
// VNNI, whose dot products of bytes Highway calls AVX3_DL. Include in place of kernels/simd.h.

#define HWY_WANT_AVX3_DL
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#include <hwy/detect_targets.h>
