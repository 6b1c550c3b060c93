#pragma once

namespace limpid {

// The most memory that this process has had so far, in units of 1,048,576 bytes.
double peak_memory_mb();

}  // namespace limpid
