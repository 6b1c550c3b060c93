#include "app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/terminal.h"
#include "inspect/display_text.h"

namespace limpid {
namespace {

std::string bar(double share, int64_t width) {
  std::string text;
  for (int64_t i = 0; i < width; ++i) text += static_cast<double>(i) < share * static_cast<double>(width) ? "█" : "░";
  return text;
}

}  // namespace

std::string clock_text(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string progress_line(double share, const std::vector<std::string>& figures, const std::vector<size_t>& importance,
                          int64_t width) {
  const std::string percent = fmt::format("{:3.0f} %", 100 * share);
  std::vector<bool> shown(figures.size());
  int64_t left = width - 1 - display_width(percent);  // the last column stays free: some terminals wrap when it is used
  for (const size_t at : importance) {
    const int64_t needed = 2 + display_width(figures[at]);
    if (figures[at].empty() || needed > left) continue;
    shown[at] = true;
    left -= needed;
  }
  const int64_t drawn = std::clamp<int64_t>(left - 1, 0, 24);
  std::string text = drawn >= 5 ? bar(share, drawn) + ' ' + percent : percent;
  for (size_t i = 0; i < figures.size(); ++i)
    if (shown[i]) text += "  " + figures[i];
  return cut_to(text, width - 1);
}

Progress::Progress(int64_t total, bool quiet)
    : total_(total), quiet_(quiet), terminal_(redraws(STDERR_FILENO)), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() { clear(); }

void Progress::update(int64_t done, const std::string& what) {
  if (quiet_) return;
  const auto now = std::chrono::steady_clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = done > 0 ? elapsed * static_cast<double>(total_ - done) / static_cast<double>(done) : 0;
  if (terminal_) {
    if (done < total_ && now - drawn_ < std::chrono::milliseconds(80)) return;
    drawn_ = now;
    fmt::print(stderr, "\r\033[K{}",
               progress_line(static_cast<double>(done) / static_cast<double>(total_),
                             {what, clock_text(left) + " left"}, {1, 0}, terminal_width(STDERR_FILENO)));
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
