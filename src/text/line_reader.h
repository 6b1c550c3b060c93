#pragma once
// LineReader: the lines of a text file, plain or gzip, one at a time in constant memory.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace limpid {

inline constexpr size_t kLongestLine = 16 << 20;  // bytes; a longer one is no line of text but something else

// What every line of text must be, wherever it comes from: an Error that names the place unless it is UTF-8 and no
// longer than that.
void check_line(std::string_view line, const std::string& name, int64_t number);

class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path);  // gzip is told by its first bytes, not by the name
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  // The next line without its end (LF or CRLF; a byte order mark at the start is dropped), valid until the next call.
  // Invalid UTF-8, a truncated gzip file or a read error is an Error that names the file and the line.
  std::optional<std::string_view> next();
  int64_t line() const;     // number of the last line given, from 1
  double progress() const;  // share of the file's bytes read, 0 … 1

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid
