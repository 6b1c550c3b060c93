#include "base/pages.h"

#include <sys/mman.h>

#include <algorithm>

namespace limpid {

std::shared_ptr<std::byte> allocate_pages(int64_t bytes) {
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  madvise(data, size, MADV_HUGEPAGE);
  return {static_cast<std::byte*>(data), [size](std::byte* p) { munmap(p, size); }};
}

}  // namespace limpid
