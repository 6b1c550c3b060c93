#pragma once
// What this machine's processor can do, as far as our kernels use it.

#include <cstdint>
#include <string>

#include "base/real.h"

namespace limpid::kernels {

std::string instruction_set();  // the one in use: "AVX3" (AVX-512), "AVX2", …

// Whether this processor has what the kernels were compiled for: always, unless that was one processor's set alone.
bool kernels_run_here();

// Whether sums of products of bytes are one instruction here (AVX-512 VNNI): several generations of processors have it,
// of which Highway names the later ones alone. A test does without it.
bool uses_byte_dot_products();
void use_byte_dot_products(bool wanted);  // no more than the processor has

// Fused multiply-adds that this thread can do in a second, in 10⁹ floating-point operations (two each): a loop on
// registers alone, the ceiling that products are measured against.
double fma_peak_gflops(double seconds);

// Sums of these numbers, for the sake of reading them: how fast a thread can read memory.
real read_numbers(const real* numbers, int64_t count);

}  // namespace limpid::kernels
