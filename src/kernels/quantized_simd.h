#pragma once
// Which instruction sets the products of quantised matrices are compiled for: those of kernels/simd.h and AVX-512 with
// VNNI, whose dot products of bytes Highway calls AVX3_DL. Include in place of kernels/simd.h.

#define HWY_WANT_AVX3_DL

#ifdef LIMPID_PROCESSOR_TARGET  // compiled for this processor only (cmake/this_processor.cmake)
#undef HWY_BASELINE_TARGETS
#define HWY_BASELINE_TARGETS LIMPID_PROCESSOR_TARGET
#endif

#include "kernels/simd.h"
