#include "text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8  // the library's own way to say which of its widths is meant
#include <pcre2.h>

#include <array>
#include <vector>

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

// Character classes in the manner of Oniguruma, which Hugging Face's library has: classes within classes, [a[bc]], and
// what several have in common, [\\p{L}&&[^a-z]]. PCRE2 would take both by the letter; here they are written with the
// means that it has. Other classes stay as they are.
class ClassTranslator {
 public:
  explicit ClassTranslator(std::string_view pattern) : pattern_(pattern) {}

  std::string whole() {
    std::string result;
    while (at_ < pattern_.size()) {
      if (pattern_[at_] == '[')
        result += read_class().text();
      else
        take(result, pattern_[at_] == '\\' ? 2 : 1);
    }
    return result;
  }

 private:
  struct Operand {
    std::string items;                 // what stands in the class itself
    std::vector<std::string> classes;  // that could not be written into it
    std::string text() const {
      std::string all;
      for (const std::string& one : classes) all += (all.empty() ? "" : "|") + one;
      if (items.empty() && classes.size() == 1) return all;
      return classes.empty() ? "[" + items + "]"
             : items.empty() ? "(?:" + all + ")"
                             : "(?:[" + items + "]|" + all + ")";
    }
  };
  struct Class {
    bool negated = false;
    std::vector<Operand> operands = {{}};
    bool simple() const { return operands.size() == 1 && operands[0].classes.empty(); }
    std::string text() const {
      if (simple()) return (negated ? "[^" : "[") + operands[0].items + "]";
      std::string all;
      for (size_t i = 0; i + 1 < operands.size(); ++i) all += "(?=" + operands[i].text() + ")";
      all += operands.back().text();
      return negated ? "(?:(?!" + all + ")(?s:.))" : "(?:" + all + ")";
    }
  };

  void take(std::string& to, size_t count) {
    to += pattern_.substr(at_, count);
    at_ += count;
  }

  bool next_is(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }

  // A class that does not end is for PCRE2 to report.
  Class read_class() {  // NOLINT(misc-no-recursion): bounded by depth_
    constexpr int kDeepest = 100;
    ++depth_;
    check(depth_ <= kDeepest, "[tokenizer] a regular expression has classes in {} classes: is the file whole?", depth_);
    Class result;
    ++at_;
    if (next_is("^")) {
      result.negated = true;
      ++at_;
    }
    if (next_is("]")) take(result.operands.back().items, 1);
    while (at_ < pattern_.size() && !next_is("]")) {
      Operand& now = result.operands.back();
      if (next_is("&&")) {
        at_ += 2;
        result.operands.emplace_back();
      } else if (next_is("[:")) {
        take(now.items, pattern_.find(":]", at_) == std::string_view::npos ? 2 : pattern_.find(":]", at_) + 2 - at_);
      } else if (next_is("[")) {
        const Class inner = read_class();
        if (inner.simple() && !inner.negated)
          now.items += inner.operands[0].items;
        else
          now.classes.push_back(inner.text());
      } else {
        take(now.items, next_is("\\") ? 2 : 1);
      }
    }
    ++at_;
    --depth_;
    return result;
  }

  std::string_view pattern_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Regex::Regex(const std::string& pattern, std::string_view where) {
  const std::string translated = ClassTranslator(pattern).whole();
  int error = 0;
  PCRE2_SIZE at = 0;
  struct FreeContext {
    void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
  };
  const std::unique_ptr<pcre2_compile_context, FreeContext> context(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_code* code = pcre2_compile(bytes_of(translated), translated.size(), PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE,
                                   &error, &at, context.get());
  check(code != nullptr, "{}: the regular expression {} is wrong at byte {} ({}): is the file whole?", where,
        translated, at, [&] { return message_of(error); });
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
