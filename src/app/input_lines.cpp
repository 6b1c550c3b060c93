#include "app/input_lines.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "app/terminal.h"
#include "base/error.h"
#include "base/file.h"
#include "text/utf8.h"

namespace limpid {
namespace {

const std::string kStandardInput = "standard input";

bool input_waits() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

}  // namespace

InputLines::InputLines(std::vector<std::string> files, bool told) : files_(std::move(files)), told_(told) {
  if (files_.empty()) files_.emplace_back("-");
}

std::optional<std::string> InputLines::next_typed(bool wait) {
  for (;;) {
    const size_t end = buffer_.find('\n');
    if (end != std::string::npos || (ended_ && !buffer_.empty())) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end == std::string::npos ? end : end + 1);
      if (++typed_lines_ == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // the mark of the byte order
      if (!line.empty() && line.back() == '\r') line.pop_back();
      check_line(line, kStandardInput, typed_lines_);
      return line;
    }
    if (buffer_.size() > kLongestLine) check_line(buffer_, kStandardInput, typed_lines_ + 1);
    if (ended_ || (!wait && !input_waits())) return std::nullopt;
    if (wait && !told_) tell_waiting();
    read_more();
  }
}

// Some bytes as they come; none at the end.
std::string_view InputLines::read_bytes() {
  packed_.resize(1 << 16);
  ssize_t bytes;
  do bytes = read(STDIN_FILENO, packed_.data(), packed_.size());
  while (bytes < 0 && errno == EINTR);
  check(bytes >= 0, "[input] the standard input cannot be read: {}", std::strerror(errno));
  return std::string_view(packed_).substr(0, static_cast<size_t>(bytes));
}

// Gzip is told by its first bytes, as that of files.
void InputLines::read_more() {
  std::string_view bytes = gunzip_ ? std::string_view() : read_bytes();
  if (!std::exchange(any_read_, true) && Gunzip::is_gzip(bytes)) gunzip_ = std::make_unique<Gunzip>(kStandardInput);
  if (gunzip_)
    bytes = gunzip_->next([&] { return bytes.empty() ? read_bytes() : std::exchange(bytes, {}); }, typed_lines_);
  ended_ = bytes.empty();
  buffer_.append(bytes);
}

std::string InputLines::rest() {
  if (!ended_) tell_waiting("one text with its line ends");
  while (!ended_) {
    read_more();
    check(buffer_.size() <= kLongestLine,
          "[input] the standard input is longer than {}: leave out --whole and give "
          "lines",
          bytes_text(kLongestLine));
  }
  if (const auto bad = invalid_utf8(buffer_))
    check_line(std::string_view(buffer_).substr(*bad, 1), kStandardInput,
               1 + std::count(buffer_.begin(), buffer_.begin() + static_cast<ptrdiff_t>(*bad), '\n'));
  return std::move(buffer_);
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
