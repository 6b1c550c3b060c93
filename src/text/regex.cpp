#include "text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8  // the library's own way to say which of its widths is meant
#include <pcre2.h>

#include <array>

#include "base/error.h"
#include "text/utf8.h"

namespace limpid {
namespace {

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 200> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR bytes_of(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

Regex::Regex(const std::string& pattern, std::string_view where) {
  int error = 0;
  PCRE2_SIZE at = 0;
  struct FreeContext {
    void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
  };
  const std::unique_ptr<pcre2_compile_context, FreeContext> context(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_code* code = pcre2_compile(bytes_of(pattern), pattern.size(), PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error,
                                   &at, context.get());
  check(code != nullptr, "{}: the regular expression {} is wrong at byte {} ({}): is the file whole?", where, pattern,
        at, [&] { return message_of(error); });
  code_ = std::shared_ptr<const void>(
      code, [](const void* held) { pcre2_code_free(static_cast<pcre2_code*>(const_cast<void*>(held))); });
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // faster where the machine has it; where not, matching works without
}

void Regex::each_match(std::string_view text, const std::function<void(size_t, size_t)>& body) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  struct FreeMatch {
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  };
  const std::unique_ptr<pcre2_match_data, FreeMatch> match(pcre2_match_data_create(1, nullptr));
  const PCRE2_SIZE* found = pcre2_get_ovector_pointer(match.get());
  size_t at = 0;
  while (at < text.size()) {
    int result = pcre2_match(code, bytes_of(text), text.size(), at, PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT)
      result =
          pcre2_match(code, bytes_of(text), text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, match.get(), nullptr);
    if (result == PCRE2_ERROR_NOMATCH) return;
    check(result >= 0, "[tokenizer] a regular expression gives up on a text of {} bytes ({}): cut the text into lines",
          text.size(), [&] { return message_of(result); });
    const size_t begin = found[0], end = found[1];
    if (end > begin) {
      body(begin, end);
      at = end;
    } else {
      if (begin >= text.size()) return;
      at = begin + first_code_point(text.substr(begin)).bytes;
    }
  }
}

std::string escaped_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("\\^$.[]|()?*+{}-#").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace limpid
