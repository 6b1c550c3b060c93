#pragma once
// Processor time: what work costs whatever else the machine does, and however long it was stopped.

#include <ctime>

namespace limpid {

// Seconds so far, of the calling thread alone or of all threads of the process.
inline double processor_time(bool of_this_thread) {
  timespec time{};
  ::clock_gettime(of_this_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace limpid
