#pragma once
// A progress line on stderr: a bar with the remaining time that is redrawn on a terminal, a plain line now and then
// elsewhere.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace limpid {

// "12 s", "3:05", "1:02:07".
std::string clock_text(double seconds);

// A bar, a percentage and as many of the figures as fit the width, in their order; the least important are dropped
// first: `importance` has the places of the figures, the most important first.
std::string progress_line(double share, const std::vector<std::string>& figures, const std::vector<size_t>& importance,
                          int64_t width);

class Progress {
 public:
  explicit Progress(int64_t total, bool quiet = false);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(int64_t done, const std::string& what);  // what: the figures of the moment
  void clear() const;                                  // takes the bar off the screen, for other output

 private:
  int64_t total_;
  bool quiet_, terminal_;
  int64_t printed_tenth_ = -1;
  std::chrono::steady_clock::time_point start_, drawn_;
};

}  // namespace limpid
