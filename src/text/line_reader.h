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

// Where a text is cut that has more than `most` bytes: behind the last space, else between two characters.
size_t cut_place(std::string_view text, size_t most);

class LineReader {
 public:
  // Gzip is told by its first bytes, not by the name. A line of more bytes than `longest` is an Error, or, where the
  // text is one stream, comes in parts.
  enum class LongLines { refuse, cut };
  explicit LineReader(const std::filesystem::path& path, LongLines long_lines = LongLines::refuse,
                      size_t longest = kLongestLine);
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  // The next line without its end (LF or CRLF; a byte order mark at the start is dropped), valid until the next call.
  // Invalid UTF-8, a truncated gzip file or a read error is an Error that names the file and the line.
  std::optional<std::string_view> next();
  int64_t line() const;     // number of the last line given, from 1
  bool goes_on() const;     // what was given last is a part, and the next one goes on with the same line
  double progress() const;  // share of the file's bytes read, 0 … 1

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid
