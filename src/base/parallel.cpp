#include "base/parallel.h"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <mutex>

namespace limpid {

void set_threads(int count) { omp_set_num_threads(count > 0 ? count : omp_get_num_procs()); }

int threads() { return omp_get_max_threads(); }

void parallel_for(int64_t count, const std::function<void(int64_t)>& body) {
  if (count <= 1 || threads() == 1 || omp_in_parallel()) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::exception_ptr error;
  std::mutex error_mutex;
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t i = 0; i < count; ++i) {
    try {
      body(i);
    } catch (...) {
      std::lock_guard lock(error_mutex);
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

void parallel_ranges(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  const int64_t ranges = (count + grain - 1) / grain;
  parallel_for(ranges, [&](int64_t i) { body(i * grain, std::min(count, (i + 1) * grain)); });
}

}  // namespace limpid
