#include "base/parallel.h"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <mutex>

#ifdef __SANITIZE_THREAD__
#include <thread>
#include <vector>
#endif

namespace limpid {

namespace {

#ifdef __SANITIZE_THREAD__

// The thread sanitizer cannot see how OpenMP's threads wait for each other, so under it they are std::threads, dealt
// their shares beforehand: a race in a loop of two is then always between two threads.
thread_local bool in_team = false;

bool in_parallel() { return in_team; }

template <class Body>
void share_out(int64_t count, const Body& body) {
  const int64_t team = threads();
  const auto member = [&](int64_t first) {
    in_team = true;
    for (int64_t i = first; i < count; i += team) body(i);
    in_team = false;
  };
  std::vector<std::jthread> others;
  for (int64_t first = 1; first < team; ++first) others.emplace_back(member, first);
  member(0);
}

#else

bool in_parallel() { return omp_in_parallel() != 0; }

template <class Body>
void share_out(int64_t count, const Body& body) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t i = 0; i < count; ++i) body(i);
}

#endif

}  // namespace

void set_threads(int count) { omp_set_num_threads(count > 0 ? count : omp_get_num_procs()); }

int threads() { return omp_get_max_threads(); }

void parallel_for(int64_t count, const std::function<void(int64_t)>& body) {
  if (count <= 1 || threads() == 1 || in_parallel()) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::exception_ptr error;
  std::mutex error_mutex;
  share_out(count, [&](int64_t i) {
    try {
      body(i);
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

void parallel_ranges(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  const int64_t ranges = (count + grain - 1) / grain;
  parallel_for(ranges, [&](int64_t i) { body(i * grain, std::min(count, (i + 1) * grain)); });
}

}  // namespace limpid
