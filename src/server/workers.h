#pragma once
// Workers: a few threads that run handlers, so that the transport's thread never computes. They take no signals
// (base/interrupt.h says why).

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace limpid {

class Workers {
 public:
  Workers(int threads, size_t most_waiting);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False: too many wait already.
  bool run(std::function<void()> task);
  size_t waiting() const;
  void stop();  // finishes what runs; what waits is dropped

 private:
  void work();

  const size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

// The calling thread takes no signals from now on.
void block_signals();

}  // namespace limpid
