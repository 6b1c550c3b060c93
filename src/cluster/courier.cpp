#include "cluster/courier.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/interrupt.h"
#include "cluster/patience.h"

namespace limpid {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kBeat = 100ms;
// Between two looks at transfers while the owner computes: each look interrupts a thread of the owner's, and how soon
// the end of a transfer is noticed matters to nobody before the owner waits. What needs many looks, as TCP does, gets
// them at first.
constexpr auto kFirstPause = 50us, kLongestPause = 1000us;

}  // namespace

Courier::Courier(std::unique_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)), rank_(communicator_->rank()), size_(communicator_->size()) {
  if (size_ == 1) return;
  ::pthread_getcpuclockid(::pthread_self(), &owner_clock_);
  thread_ = std::thread([this] { work(); });
}

Courier::~Courier() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void Courier::post(Start start, std::function<void()> over) {
  {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    waiting_.push_back({std::move(start), std::move(over), nullptr});
    ++unfinished_;
  }
  news_.notify_one();
}

void Courier::finish() {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  owner_waits_ = true;
  news_.notify_one();
  idle_.wait(lock, [&] { return unfinished_ == 0 || error_; });
  owner_waits_ = false;
  if (error_) std::rethrow_exception(error_);
}

// A task by itself: it begins when all before it is over.
void Courier::call(const std::function<void(Communicator&)>& task) {
  if (!thread_.joinable()) return task(*communicator_);
  finish();
  post(
      [&](Communicator& communicator) {
        task(communicator);
        return nullptr;
      },
      [] {});
  finish();
}

void Courier::broadcast(std::span<std::byte> bytes) {
  call([&](Communicator& communicator) { communicator.broadcast(bytes); });
}

std::string Courier::broadcast(std::string text) {
  uint64_t length = text.size();
  broadcast(std::as_writable_bytes(std::span(&length, 1)));
  text.resize(length);
  broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

std::vector<std::string> Courier::gather(const std::string& mine) {
  std::vector<std::string> all;
  call([&](Communicator& communicator) { all = communicator.gather(mine); });
  return all;
}

// A thread that has used the processor since the last time works.
Doing Courier::owner_does() {
  timespec time{};
  ::clock_gettime(owner_clock_, &time);
  const double now = static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  const bool used = std::exchange(owner_time_, now) != now;
  return owner_waits_ ? Doing::waiting : used || at_work_ > 0 ? Doing::working : Doing::nothing;
}

// Starts what may start and ends what is over. False: nothing has changed.
bool Courier::serve(std::unique_lock<std::mutex>& lock) {
  if (!waiting_.empty() && under_way_.size() < kUnderWay) {
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (under_way_.empty()) busy_since_ = Clock::now();
    work.transfer = work.start(*communicator_);
    under_way_.push_back(std::move(work));
    lock.lock();
    return true;
  }
  if (under_way_.empty()) return false;
  lock.unlock();
  Work& first = under_way_.front();
  const bool over = !first.transfer || communicator_->test(*first.transfer);
  if (over) {
    first.over();
    under_way_.pop_front();
  }
  lock.lock();
  if (under_way_.empty()) carried_ += std::chrono::duration<double>(Clock::now() - busy_since_).count();
  if (over && --unfinished_ == 0) idle_.notify_all();
  return over;
}

void Courier::work() {
  take_no_signals();
  auto shown = Clock::time_point();
  Patience patience;
  std::chrono::microseconds pause = kFirstPause;
  std::unique_lock lock(mutex_);
  try {
    while (!stop_) {
      if (serve(lock)) {
        patience.reset();
        pause = kFirstPause;
      } else if (under_way_.empty()) {
        news_.wait_for(lock, kBeat);
      } else if (owner_waits_) {
        lock.unlock();
        patience.wait();
        lock.lock();
      } else {
        news_.wait_for(lock, pause);
        pause = std::min<std::chrono::microseconds>(2 * pause, kLongestPause);
      }
      if (const auto now = Clock::now(); now - shown >= kBeat) {
        shown = now;
        const Doing doing = owner_does();
        lock.unlock();
        communicator_->show_life(doing);
        lock.lock();
      }
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    error_ = std::current_exception();
    idle_.notify_all();
  }
}

}  // namespace limpid
