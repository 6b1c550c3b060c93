#pragma once
// Patience: how long to wait between two looks at something that other ranks have to do.

#include <chrono>
#include <thread>

namespace limpid {

class Patience {
 public:
  void reset() { begun_ = {}; }

  // `idle`: the rank has nothing else to do, so that looking all the time costs nobody anything. Not for long: there
  // may be more ranks than cores.
  void wait(bool idle) {
    using namespace std::chrono_literals;
    const auto now = std::chrono::steady_clock::now();
    if (begun_ == std::chrono::steady_clock::time_point()) begun_ = now;
    if (idle && now - begun_ < 5ms)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(idle ? 100us : 50us);
  }

 private:
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace limpid
