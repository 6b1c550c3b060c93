#pragma once
// Courier: the thread of a rank that communicates while others compute. It does all that concerns the other ranks, and
// shows them ten times per second that this one is alive. Where there is only one rank there is no thread.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "cluster/communicator.h"

namespace limpid {

class Courier {
 public:
  explicit Courier(std::unique_ptr<Communicator> communicator);
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;
  ~Courier();

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool first() const { return rank_ == 0; }

  // A transfer to be started in its turn, with a few under way at a time, and what to do when it is over; both are
  // called on the courier's thread. Ends of transfers come in the order in which they were given.
  using Start = std::function<std::unique_ptr<Communicator::Transfer>(Communicator&)>;
  void post(Start start, std::function<void()> over);
  // Waits until all that was given is over. Errors of the courier's thread come out here and in post().
  void finish();

  // These wait.
  void broadcast(std::span<std::byte> bytes);
  std::string broadcast(std::string text);  // that of rank 0
  std::vector<std::string> gather(const std::string& mine);

  // While one lives the rank counts as working although its thread may sleep: a write to a disk may take long.
  class AtWork {
   public:
    explicit AtWork(Courier& courier) : courier_(courier) { ++courier_.at_work_; }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;
    ~AtWork() { --courier_.at_work_; }

   private:
    Courier& courier_;
  };

  // Seconds so far in which something was under way. To be asked after finish().
  double under_way() const { return carried_; }

 private:
  struct Work {
    Start start;
    std::function<void()> over;
    std::unique_ptr<Communicator::Transfer> transfer;
  };
  void call(const std::function<void(Communicator&)>& task);
  void work();
  bool serve(std::unique_lock<std::mutex>& lock);
  Doing owner_does();

  static constexpr size_t kUnderWay = 4;

  std::unique_ptr<Communicator> communicator_;
  int rank_, size_;
  std::mutex mutex_;
  std::condition_variable news_, idle_;
  std::deque<Work> waiting_;
  std::deque<Work> under_way_;  // the thread's own
  size_t unfinished_ = 0;
  bool owner_waits_ = false, stop_ = false;
  std::exception_ptr error_;
  clockid_t owner_clock_{};  // processor time of the thread that made the courier
  double owner_time_ = 0;
  std::atomic<int> at_work_ = 0;
  double carried_ = 0;
  std::chrono::steady_clock::time_point busy_since_;
  std::thread thread_;
};

}  // namespace limpid
