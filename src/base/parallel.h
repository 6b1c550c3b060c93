#pragma once
// One pool of threads for the whole program, so that threads never fight. Helpers join a loop if they are free: on a
// machine that is busy with other work a loop takes no longer than its share of the machine.

#include <cstdint>
#include <functional>

namespace limpid {

// Threads that parallel_for uses, for the whole process; 0 asks for one per core.
void set_threads(int count);
int threads();

// Calls body(i) for i in [0, count), handing out one i at a time; runs in place when already inside a parallel_for.
// An exception thrown by body is rethrown here after the others have finished. Work that has been cancelled ends here
// (base/cancellation.h).
void parallel_for(int64_t count, const std::function<void(int64_t)>& body);

// Calls body(begin, end) on ranges of at most `grain` that cover [0, count). The ranges do not depend on the number of
// threads, so a reduction kept per range gives the same bits with any number of them.
void parallel_ranges(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body);

}  // namespace limpid
