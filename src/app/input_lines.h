#pragma once
// InputLines: the lines of the standard input or of files, one after another, for commands that answer line by line.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/gunzip.h"
#include "text/line_reader.h"

namespace limpid {

class InputLines {
 public:
  // No files: the standard input; "-" stands for it too. `told`: whoever types knows already that lines are awaited.
  explicit InputLines(std::vector<std::string> files, bool told = false);

  std::optional<std::string> next() { return next_line(true); }  // waits for a line; nothing at the end
  // A line that can be had without waiting; nothing where none can be had now, or at the end (then ended()).
  std::optional<std::string> next_ready() { return next_line(false); }
  bool ended() const { return !reader_ && !standard_input_ && next_file_ == files_.size(); }
  // All that is left of the standard input as one text, every byte of it as it came; no longer than a line may be.
  std::string rest();
  // At least one line, and those that can be had without waiting, at most `count`: somebody who types a line is
  // answered at once, and a file is read in large parts. Nothing at the end.
  std::vector<std::string> next_lines(size_t count);

 private:
  std::optional<std::string> next_line(bool wait);
  std::optional<std::string> next_typed(bool wait);
  void read_more();
  std::string_view read_bytes();

  std::vector<std::string> files_;
  size_t next_file_ = 0;
  std::optional<LineReader> reader_;
  bool standard_input_ = false;     // the file being read
  std::string buffer_;              // what was read from the standard input and not given yet
  std::string packed_;              // the bytes read last
  std::unique_ptr<Gunzip> gunzip_;  // where they are gzip
  bool any_read_ = false;
  int64_t typed_lines_ = 0;  // given of the standard input
  bool told_;
  bool ended_ = false;
};

}  // namespace limpid
