#include "text/line_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "text/gunzip.h"
#include "text/utf8.h"

namespace limpid {
namespace {

constexpr size_t kChunk = 1 << 16;  // bytes read or unpacked at a time

void check_length(size_t bytes, const std::string& name, int64_t number, size_t longest = kLongestLine) {
  check(bytes <= longest,
        "[text] {}:{}: the line is longer than {}: is this a text file with one sentence or paragraph per line?", name,
        number, bytes_text(longest));
}

// The bytes of a file, a chunk at a time.
class FileBytes {
 public:
  explicit FileBytes(const std::filesystem::path& path)
      : path_(path.string()), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (!file_.open())
      fail(errno == ENOENT ? ErrorKind::not_found : ErrorKind::io,
           "[text] {}: cannot be opened: {}: is the name right?", path_, reason());
    struct stat facts = {};
    if (::fstat(file_.get(), &facts) == 0 && S_ISREG(facts.st_mode)) size_ = static_cast<uint64_t>(facts.st_size);
  }

  // The next bytes; none at the end of the file.
  std::string_view next() {
    ssize_t count;
    do count = ::read(file_.get(), buffer_.data(), buffer_.size());
    while (count < 0 && errno == EINTR);
    if (count < 0)
      fail(errno == EISDIR ? ErrorKind::bad_input : ErrorKind::io,
           "[text] {}: cannot be read: {}: name a file that can", path_, reason());
    read_ += static_cast<uint64_t>(count);
    ended_ = count == 0;
    return {buffer_.data(), static_cast<size_t>(count)};
  }

  const std::string& path() const { return path_; }
  double progress() const {
    if (ended_) return 1;
    return size_ == 0 ? 0 : std::min(1.0, static_cast<double>(read_) / static_cast<double>(size_));
  }

 private:
  static std::string reason() { return std::generic_category().message(errno); }

  std::string path_;
  Descriptor file_;
  uint64_t size_ = 0, read_ = 0;  // bytes; size 0: not known, as of a pipe
  bool ended_ = false;
  std::array<char, kChunk> buffer_;
};

}  // namespace

struct LineReader::State {
  State(const std::filesystem::path& path, LongLines lines, size_t most)
      : file(path), long_lines(lines), longest(most) {
    chunk = file.next();
    if (!Gunzip::is_gzip(chunk)) return;
    gzip = std::make_unique<Gunzip>(file.path());
    chunk = gzip->next(
        [this, first = chunk]() mutable { return first.empty() ? file.next() : std::exchange(first, {}); }, 0);
  }

  bool refill() {
    chunk = gzip ? gzip->next([this] { return file.next(); }, number) : file.next();
    return !chunk.empty();
  }

  // The next line with its end, as it stands in the file; nothing at the end.
  std::string_view raw_line() {
    const size_t most = long_lines == LongLines::cut ? longest : std::string_view::npos;
    parts = std::exchange(rest, {});
    goes_on = false;
    while (!parts.ends_with('\n') && parts.size() <= most && (!chunk.empty() || refill())) {
      const size_t end = chunk.find('\n');
      const std::string_view part = chunk.substr(0, end == chunk.npos ? end : end + 1);
      chunk.remove_prefix(part.size());
      if (long_lines == LongLines::refuse) check_length(parts.size() + part.size(), file.path(), number + 1, longest);
      if (end != chunk.npos && parts.empty() && part.size() <= most) return part;
      parts += part;
    }
    if (parts.size() > most) {
      const size_t cut = cut_place(parts, most);
      rest = parts.substr(cut);
      parts.resize(cut);
      goes_on = true;
    }
    return parts;
  }

  FileBytes file;
  std::unique_ptr<Gunzip> gzip;
  std::string_view chunk;  // bytes not yet given out
  std::string parts;       // a line that several chunks share
  std::string rest;        // of a line that is given in parts
  LongLines long_lines;
  size_t longest;
  bool goes_on = false;
  int64_t number = 0;  // of the last line given
};

void check_line(std::string_view line, const std::string& name, int64_t number) {
  check_length(line.size(), name, number);
  const std::optional<size_t> bad = invalid_utf8(line);
  if (!bad) return;
  const bool wide = number == 1 && (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff"));
  fail("[text] {}:{}: byte {} of the line (0x{:02x}) is not UTF-8: {}", name, number, *bad + 1,
       static_cast<unsigned char>(line[*bad]),
       wide ? "the text is UTF-16: convert it with iconv -f UTF-16 -t UTF-8"
            : "convert the text with iconv, or find out where it was damaged");
}

size_t cut_place(std::string_view text, size_t most) {
  if (text.size() <= most) return text.size();
  if (const size_t space = text.rfind(' ', most - 1); space != text.npos) return space + 1;
  size_t cut = most;
  while (cut > 1 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // inside a character
  return cut;
}

LineReader::LineReader(const std::filesystem::path& path, LongLines long_lines, size_t longest)
    : state_(std::make_unique<State>(path, long_lines, longest)) {}
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

std::optional<std::string_view> LineReader::next() {
  const bool begins = !state_->goes_on;
  std::string_view line = state_->raw_line();
  if (line.empty()) return std::nullopt;
  if (begins) ++state_->number;
  if (begins && state_->number == 1 && line.starts_with("\xef\xbb\xbf")) {
    line.remove_prefix(3);
    if (line.empty()) return std::nullopt;  // a file of nothing but the mark
  }
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r') && !state_->goes_on) line.remove_suffix(1);
  check_line(line, state_->file.path(), state_->number);
  return line;
}

int64_t LineReader::line() const { return state_->number; }
bool LineReader::goes_on() const { return state_->goes_on; }
double LineReader::progress() const { return state_->file.progress(); }

}  // namespace limpid
