#pragma once
// Pace: the speed of the last updates, for people to read.

#include <cstdint>
#include <deque>
#include <utility>

namespace limpid {

class Pace {
 public:
  void add(int64_t tokens, double seconds) {
    recent_.emplace_back(tokens, seconds);
    if (recent_.size() > 50) recent_.pop_front();
  }
  double tokens_per_second() const {
    double tokens = 0, seconds = 0;
    for (const auto& [count, time] : recent_) tokens += static_cast<double>(count), seconds += time;
    return seconds > 0 ? tokens / seconds : 0;
  }
  double seconds_per_step() const {
    double seconds = 0;
    for (const auto& [count, time] : recent_) seconds += time;
    return recent_.empty() ? 0 : seconds / static_cast<double>(recent_.size());
  }

 private:
  std::deque<std::pair<int64_t, double>> recent_;
};

}  // namespace limpid
