#pragma once
// What parallel_for has done: tests ask whether work was shared at all where they say that sharing changes no bit.

#include <cstdint>

namespace limpid {

// Loops of this process that were handed to several threads so far.
int64_t shared_loops();

}  // namespace limpid
