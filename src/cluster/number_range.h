#pragma once

#include <cstdint>

namespace limpid {

// A stretch of a flat buffer.
struct NumberRange {
  int64_t begin = 0, count = 0;
  int64_t end() const { return begin + count; }
};

}  // namespace limpid
