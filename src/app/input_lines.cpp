#include "app/input_lines.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace limpid {
namespace {

bool input_waits() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

}  // namespace

InputLines::InputLines(std::vector<std::string> files) : files_(std::move(files)) {
  if (files_.empty()) files_.emplace_back("-");
}

std::optional<std::string> InputLines::next_typed(bool wait) {
  for (;;) {
    const size_t end = buffer_.find('\n');
    if (end != std::string::npos || (ended_ && !buffer_.empty())) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end == std::string::npos ? end : end + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    if (ended_ || (!wait && !input_waits())) return std::nullopt;
    char part[1 << 16];
    const ssize_t bytes = read(STDIN_FILENO, part, sizeof part);
    if (bytes < 0 && errno == EINTR) continue;
    check(bytes >= 0, "[input] the standard input cannot be read: {}", std::strerror(errno));
    ended_ = bytes == 0;
    buffer_.append(part, static_cast<size_t>(bytes));
  }
}

std::optional<std::string> InputLines::next_line(bool wait) {
  for (;;) {
    if (standard_input_) {
      if (auto line = next_typed(wait)) return line;
      if (!ended_) return std::nullopt;
      standard_input_ = false;
    } else if (reader_) {
      if (const auto line = reader_->next()) return std::string(*line);
      reader_.reset();
    }
    if (next_file_ == files_.size()) return std::nullopt;
    const std::string& file = files_[next_file_++];
    if (file == "-")
      standard_input_ = true;
    else
      reader_.emplace(file);
  }
}

std::vector<std::string> InputLines::next_lines(size_t count) {
  std::vector<std::string> lines;
  while (lines.size() < count) {
    auto line = lines.empty() ? next() : next_ready();
    if (!line) break;
    lines.push_back(std::move(*line));
  }
  return lines;
}

}  // namespace limpid
