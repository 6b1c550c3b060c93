#pragma once
// Ctrl-C and SIGTERM as a wish that a long task asks for between two steps, so that it can save and leave in order.

#include <csignal>

namespace limpid {

// While one lives, SIGINT and SIGTERM only set a flag; a second Ctrl-C ends the process at once, as it always did.
// (A repetition within a quarter of a second is the same wish: shells, `timeout` and npm send a signal to a process
// and to its group.) A signal that was ignored before, as under nohup, stays ignored. The end restores what was
// before. One at a time.
//
// Handlers run on a stack of their own: inside a product of oneDNN the stack pointer may point into the library's
// buffers, and what the system puts below it for a handler would destroy the heap. For the same reason the threads of
// parallel_for take no signals.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

 private:
  struct sigaction old_interrupt_ = {}, old_terminate_ = {};
  stack_t old_stack_ = {};
};

// Whether a signal has come since the guard was made. Cheap: ask as often as you like.
bool interrupted();
// Which: SIGINT, SIGTERM, or 0 for none. An exit code by convention is 128 plus this.
int interrupt_signal();

// For a thread that helps others, at its beginning: signals go to the threads that the program made itself, but for
// those that a thread's own work raises; blocked, they would end the program without a word.
void take_no_signals();

}  // namespace limpid
