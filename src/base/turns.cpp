#include "base/turns.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/cancellation.h"

namespace limpid {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// Of the time of the last piece of foreground work, what the background gets before the next one.
constexpr double kBackgroundShare = 0.5;
// Background work that does not come back so soon (it is doing something else) gives the rest of its share away.
constexpr microseconds kPause{200};
constexpr microseconds kEnough{1000};  // of a part of a background loop

thread_local bool in_background = false;

class Turns {
 public:
  void begin_foreground() {
    std::unique_lock lock(mutex_);
    const uint64_t ticket = tickets_++;
    while (taken_ || ticket != next_ticket_ || background_goes_on()) changed_.wait_for(lock, kPause);
    taken_ = true;
    ++next_ticket_;
    since_ = Clock::now();
  }

  void end_foreground() {
    const std::lock_guard lock(mutex_);
    taken_ = false;
    const auto now = Clock::now();
    const auto share = std::chrono::duration_cast<Clock::duration>(kBackgroundShare * (now - since_));
    share_end_ = waiting_ > 0 ? now + share : now;
    left_ = now;
    changed_.notify_all();
  }

  void begin_background() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    // Those that wait for the foreground come first once the share is over, and where none was given.
    changed_.wait(lock, [&] { return !taken_ && (tickets_ == next_ticket_ || Clock::now() < share_end_); });
    --waiting_;
    taken_ = true;
  }

  void end_background() {
    const std::lock_guard lock(mutex_);
    taken_ = false;
    left_ = Clock::now();
    changed_.notify_all();
  }

 private:
  bool background_goes_on() const {
    const auto now = Clock::now();
    return now < share_end_ && now - left_ < kPause;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = false;
  uint64_t tickets_ = 0, next_ticket_ = 0;  // of the foreground
  int64_t waiting_ = 0;                     // for the background
  Clock::time_point since_, share_end_, left_;
};

Turns& turns() {
  static Turns turns;
  return turns;
}

}  // namespace

ForegroundWork::ForegroundWork() { turns().begin_foreground(); }
ForegroundWork::~ForegroundWork() { turns().end_foreground(); }

void work_in_background() { in_background = true; }
bool works_in_background() { return in_background; }

WithoutTurns::WithoutTurns() : before_(std::exchange(in_background, false)) {}
WithoutTurns::~WithoutTurns() { in_background = before_; }

void take_turns(int64_t count, int64_t least, const std::function<void(int64_t, int64_t)>& part) {
  int64_t size = least;
  for (int64_t begin = 0; begin < count;) {
    const int64_t end = std::min(count, begin + size);
    check_cancelled();
    turns().begin_background();
    const auto start = Clock::now();
    part(begin, end);
    if (Clock::now() - start < kEnough / 2) size *= 2;
    turns().end_background();
    begin = end;
  }
}

}  // namespace limpid
