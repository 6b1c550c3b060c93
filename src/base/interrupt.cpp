#include "base/interrupt.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace limpid {
namespace {

constexpr int64_t kSameWish = 250'000'000;  // nanoseconds

alignas(64) unsigned char handler_stack[1 << 16];

std::atomic<int> received = 0;                             // the first signal
std::atomic<int64_t> received_at = 0;                      // nanoseconds
static_assert(std::atomic<int64_t>::is_always_lock_free);  // a handler may touch nothing else

int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

void on_signal(int signal) {
  const int error = errno;
  int none = 0;
  if (received.compare_exchange_strong(none, signal)) {
    received_at = now();
  } else if (signal == SIGINT && received_at != 0 && now() - received_at > kSameWish) {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGINT, &usual, nullptr);
    ::raise(SIGINT);  // takes effect when this handler returns
  }
  errno = error;
}

void install(int signal, struct sigaction& old) {
  struct sigaction handler {};
  handler.sa_handler = on_signal;
  handler.sa_flags = SA_RESTART | SA_ONSTACK;  // a write that is under way goes on
  ::sigaction(signal, nullptr, &old);
  if ((old.sa_flags & SA_SIGINFO) != 0 || old.sa_handler != SIG_IGN) ::sigaction(signal, &handler, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  received = 0;
  received_at = 0;
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  ::sigaltstack(&stack, &old_stack_);
  install(SIGINT, old_interrupt_);
  install(SIGTERM, old_terminate_);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
  ::sigaltstack(&old_stack_, nullptr);
}

bool interrupted() { return received.load(std::memory_order_relaxed) != 0; }

int interrupt_signal() { return received; }

void take_no_signals() {
  sigset_t others;
  ::sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) ::sigdelset(&others, own);
  ::pthread_sigmask(SIG_SETMASK, &others, nullptr);
}

}  // namespace limpid
