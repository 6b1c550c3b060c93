#pragma once
// Large pieces of memory, taken from the system and given back to it.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace limpid {

// Whole pages of zeros, large pages where the system has them: what is walked through from end to end meets fewer
// page faults and fewer misses of the address cache. Empty where there is no memory.
std::shared_ptr<std::byte> allocate_pages(int64_t bytes);

}  // namespace limpid
