#pragma once
// What this machine's processor can do, as far as our kernels use it.

#include <string>

namespace limpid::kernels {

std::string instruction_set();  // the one in use: "AVX3" (AVX-512), "AVX2", …

// Fused multiply-adds that this thread can do in a second, in 10⁹ floating-point operations (two each): a loop on
// registers alone, the ceiling that products are measured against.
double fma_peak_gflops(double seconds);

}  // namespace limpid::kernels
