#pragma once
// For tests that compare on random cases: a few in every ./test, and any number as a study, as in
//   LIMPID_CASES=100000 build/release/kernels_test --gtest_filter=*RandomShapes*

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/random.h"

namespace limpid {

inline int64_t random_cases(int64_t usual) {
  const char* wanted = std::getenv("LIMPID_CASES");
  return wanted != nullptr ? std::max<int64_t>(1, std::atoll(wanted)) : usual;
}

// From 1 to `most`, small ones as often as large ones.
inline int64_t random_size(Random& random, int64_t most) { return 1 + random.below(1 + random.below(most)); }

}  // namespace limpid
