#include "base/parallel.h"

#include "base/cancellation.h"
#include "base/interrupt.h"
#include "base/parallel_statistics.h"
#include "base/turns.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace limpid {
namespace {

std::atomic<int64_t> shared_loop_count = 0;
std::atomic<int> wanted_threads = 0;    // 0: one per core
thread_local bool in_parallel = false;  // this thread is at work for a parallel_for

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// Looks at a number for a while, on x86 some 20 µs, about as long as waking a sleeping thread takes; then sleeps until
// it changes.
// Returns what it has become.
class Watch {
 public:
  explicit Watch(std::atomic<int>& sleepers) : sleepers_(sleepers) {}

  uint32_t changed(const std::atomic<uint32_t>& number, uint32_t from) {
    constexpr int kLooks = 1500;
    for (int i = 0; i < kLooks; ++i) {
      if (const uint32_t now = number.load(std::memory_order_acquire); now != from) return now;
      relax();
    }
    ++sleepers_;
    number.wait(from);
    --sleepers_;
    return number.load(std::memory_order_acquire);
  }

 private:
  std::atomic<int>& sleepers_;
};

// Threads that help whoever calls. A job is open while it has items left; helpers that come in time join in, and the
// caller waits only for those that did. So a machine that is busy with other things costs no more than the help it
// withholds.
class Pool {
 public:
  ~Pool() {
    stop_ = true;
    state_.fetch_add(kGeneration);
    state_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }

  // Calls body(i) for every i below count on up to `team` threads. False: another thread's job is under way.
  bool run(int64_t count, int team, const std::function<void(int64_t)>& body) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return false;
    grow(std::min<int64_t>(team, count) - 1);
    body_ = &body;
    count_ = count;
    team_ = team;
    next_.store(0, std::memory_order_relaxed);
    state_.store(((state_.load() & ~(kGeneration - 1)) + kGeneration) | kOpen);
    if (sleepers_ > 0) state_.notify_all();
#ifdef LIMPID_THREAD_SANITIZER
    // Races are looked for between threads that do work: wait for one that is inside, or has been.
    while (!helpers_.empty() && (state_ & kInside) == 0 && next_.load(std::memory_order_relaxed) == 0)
      std::this_thread::yield();
#endif
    work();
    uint32_t state = state_.fetch_and(~kOpen) & ~kOpen;
    Watch watch(sleepers_);
    while ((state & kInside) != 0) state = watch.changed(state_, state);
    return true;
  }

 private:
  // state_: helpers inside, whether the job is open, and which job it is.
  static constexpr uint32_t kInside = 0x3ff, kOpen = 0x400, kGeneration = 0x800;

  // Where the system has no thread or memory to give, those there are do the work.
  void grow(int64_t helpers) {
    try {
      while (static_cast<int64_t>(helpers_.size()) < std::min<int64_t>(helpers, kInside))
        helpers_.emplace_back([this, number = static_cast<int>(helpers_.size()) + 1] { help(number); });
    } catch (const std::system_error&) {
    }
  }

  void work() {
    in_parallel = true;
    for (int64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) (*body_)(i);
    in_parallel = false;
  }

  void help(int number) {
    take_no_signals();
    Watch watch(sleepers_);
    uint32_t done = 0;  // the last job this helper was in
    while (!stop_) {
      uint32_t state = state_.load();
      const uint32_t job = state & ~kInside;
      if ((job & kOpen) == 0 || job == done) {
        watch.changed(state_, state);
        continue;
      }
      // Who is inside keeps the caller from returning, and so the job from changing.
      if (!state_.compare_exchange_strong(state, state + 1)) continue;
      done = job;
      if (number < team_) work();
      const uint32_t left = state_.fetch_sub(1) - 1;
      if ((left & (kInside | kOpen)) == 0 && sleepers_ > 0) state_.notify_all();
    }
  }

  std::mutex mutex_;  // one job at a time
  std::vector<std::thread> helpers_;
  const std::function<void(int64_t)>* body_ = nullptr;
  int64_t count_ = 0;
  int team_ = 0;
  std::atomic<bool> stop_ = false;
  std::atomic<int> sleepers_ = 0;
  alignas(64) std::atomic<int64_t> next_ = 0;
  alignas(64) std::atomic<uint32_t> state_ = 0;
};

Pool& pool() {
  static Pool pool;
  return pool;
}

}  // namespace

void set_threads(int count) { wanted_threads = count; }

int threads() {
  static const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int wanted = wanted_threads.load(std::memory_order_relaxed);
  return wanted > 0 ? wanted : cores;
}

void parallel_for(int64_t count, const std::function<void(int64_t)>& body) {
  const auto in_place = [&] {
    for (int64_t i = 0; i < count; ++i) body(i);
  };
  if (!in_parallel) check_cancelled();
  if (count <= 1 || threads() == 1 || in_parallel) return in_place();
  std::exception_ptr error;
  std::mutex error_mutex;
  const std::function<void(int64_t)> guarded = [&](int64_t i) {
    try {
      body(i);
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      error = std::current_exception();
    }
  };
  if (works_in_background()) {
    take_turns(count, threads(), [&](int64_t begin, int64_t end) {
      const std::function<void(int64_t)> part = [&](int64_t i) { guarded(begin + i); };
      if (pool().run(end - begin, threads(), part)) return;
      in_parallel = true;  // loops within take no turn of their own
      for (int64_t i = begin; i < end; ++i) guarded(i);
      in_parallel = false;
    });
  } else if (!pool().run(count, threads(), guarded)) {
    return in_place();
  }
  shared_loop_count.fetch_add(1, std::memory_order_relaxed);
  if (error) std::rethrow_exception(error);
}

int64_t shared_loops() { return shared_loop_count; }

void parallel_ranges(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  const int64_t ranges = (count + grain - 1) / grain;
  parallel_for(ranges, [&](int64_t i) { body(i * grain, std::min(count, (i + 1) * grain)); });
}

}  // namespace limpid
