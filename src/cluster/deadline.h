#pragma once
// Deadline: calls a function, from a thread of its own, unless it is gone before the time is over. For calls that may
// wait for ever and cannot be asked how they do.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace limpid {

class Deadline {
 public:
  Deadline(double seconds, std::function<void()> missed)
      : thread_([this, seconds, missed = std::move(missed)] {
          std::unique_lock lock(mutex_);
          if (!left_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return over_; })) missed();
        }) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    left_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace limpid
