#include "app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace limpid {
namespace {

constexpr int kWidth = 24;

}  // namespace

std::string clock_text(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

Progress::Progress(int64_t total, bool quiet)
    : total_(total), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() { clear(); }

void Progress::update(int64_t done, const std::string& what) {
  if (quiet_) return;
  const auto now = std::chrono::steady_clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = done > 0 ? elapsed * static_cast<double>(total_ - done) / static_cast<double>(done) : 0;
  if (terminal_) {
    if (done < total_ && now - drawn_ < std::chrono::milliseconds(80)) return;
    drawn_ = now;
    const auto filled = static_cast<size_t>(kWidth * done / total_);
    std::string bar;
    for (size_t i = 0; i < kWidth; ++i) bar += i < filled ? "█" : "░";
    fmt::print(stderr, "\r\033[K{} {:3}%  {}  {} left", bar, 100 * done / total_, what, clock_text(left));
    std::fflush(stderr);
  } else if (elapsed > 5 && 10 * done / total_ != printed_tenth_) {  // short work needs no lines in a log
    printed_tenth_ = 10 * done / total_;
    fmt::print(stderr, "{:3}%  {}  {} left\n", 100 * done / total_, what, clock_text(left));
  }
}

void Progress::clear() const {
  if (terminal_ && !quiet_) fmt::print(stderr, "\r\033[K");
}

}  // namespace limpid
