#pragma once
// Live events of training runs: one thread reads what is new in their logs and tells every client that listens.

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "server/http.h"
#include "server/runs_folder.h"

namespace limpid {

class RunEvents {
 public:
  explicit RunEvents(std::chrono::milliseconds every = std::chrono::milliseconds(250)) : every_(every) {}
  ~RunEvents();
  RunEvents(const RunEvents&) = delete;
  RunEvents& operator=(const RunEvents&) = delete;

  // Tells the reply everything after the first `after` lines of the run's log, and from then on what comes.
  void listen(const WatchedRun& run, int64_t after, std::shared_ptr<Reply> reply);
  // Ends all streams, and those that are asked for from now on at once.
  void end();

 private:
  struct Listener {
    WatchedRun run;
    std::shared_ptr<Reply> reply;
    int64_t after = 0, line = 0, offset = 0;
    std::string state;
    std::chrono::steady_clock::time_point told;
  };

  void work();
  bool tell(Listener& listener) const;  // false: it has left

  const std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Listener> listeners_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace limpid
