#include "server/workers.h"

#include <csignal>
#include <utility>

#include "base/turns.h"

namespace limpid {

void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

Workers::Workers(int threads, size_t most_waiting) : most_waiting_(most_waiting) {
  for (int i = 0; i < threads; ++i)
    threads_.emplace_back([this] {
      block_signals();
      work_in_background();  // texts that are being written come first
      work();
    });
}

Workers::~Workers() { stop(); }

void Workers::stop() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    dropped.swap(tasks_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

bool Workers::run(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (ends_ || tasks_.size() >= most_waiting_) return false;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

size_t Workers::waiting() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size();
}

void Workers::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
    if (ends_) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }
}

}  // namespace limpid
