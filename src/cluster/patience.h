#pragma once
// Patience: how long to wait between two looks at something that other ranks have to do, for a rank that has nothing
// else to do: looking all the time costs nobody anything. Not for long: there may be more ranks than cores.

#include <chrono>
#include <thread>

namespace limpid {

class Patience {
 public:
  void reset() { begun_ = {}; }

  void wait() {
    using namespace std::chrono_literals;
    const auto now = std::chrono::steady_clock::now();
    if (begun_ == std::chrono::steady_clock::time_point()) begun_ = now;
    if (now - begun_ < 5ms)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(100us);
  }

 private:
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace limpid
