#pragma once
// Regex: the regular expressions of tokenizer files, by PCRE2: Unicode classes and looking ahead, which tokenizers use.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace limpid {

class Regex {
 public:
  // `^` and `$` are the ends of lines, as in the library that tokenizer files are written for. `where` begins the
  // message if the pattern is wrong.
  Regex(const std::string& pattern, std::string_view where);

  // Calls body(begin, end) for every match that is not empty, from left to right. The text must be valid UTF-8.
  void each_match(std::string_view text, const std::function<void(size_t begin, size_t end)>& body) const;

 private:
  std::shared_ptr<const void> code_;
};

// The pattern that matches a text and nothing else.
std::string escaped_pattern(std::string_view text);

}  // namespace limpid
