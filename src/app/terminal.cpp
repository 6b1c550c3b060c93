#include "app/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "inspect/display_text.h"

namespace limpid {
namespace {

std::string& name() {
  static std::string text = "limpid";
  return text;
}

}  // namespace

const std::string& program_name() { return name(); }
void set_program_name(std::string text) {
  if (!text.empty()) name() = std::move(text);
}

int64_t terminal_width(int file) {
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int64_t value = columns ? std::atoll(columns) : 0;
  return value > 0 ? value : 100;
}

bool redraws(int file) {
  const char* term = std::getenv("TERM");
  return isatty(file) == 1 && !(term && std::string_view(term) == "dumb");
}

bool colors(int file) {
  const char* none = std::getenv("NO_COLOR");
  return redraws(file) && !(none && *none);
}

std::string wrapped(std::string_view text, int64_t width, int64_t indent) {
  const int64_t room = std::max<int64_t>(width - indent, 16);
  std::string result;
  int64_t used = 0;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    const int64_t size = display_width(word);
    if (used > 0 && used + 1 + size > room) {
      result += '\n' + std::string(static_cast<size_t>(indent), ' ');
      used = 0;
    } else if (used > 0) {
      result += ' ';
      ++used;
    }
    result += word;
    used += size;
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return result;
}

void tell_waiting(std::string_view what) {
  static bool told = false;
  if (told || isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) return;
  told = true;
  fmt::print(stderr, "Reading {} from the terminal; Ctrl-D ends.\n", what);
}

}  // namespace limpid
