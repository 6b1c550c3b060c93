#pragma once
// The type of number the engine computes in: float, or double in the build that checks gradients (preset f64).

namespace limpid {

#ifdef LIMPID_F64
using real = double;
#else
using real = float;
#endif

}  // namespace limpid
