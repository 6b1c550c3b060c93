#include "app/peak_memory.h"

#include <sys/resource.h>

namespace limpid {

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace limpid
