#include "text/jinja_lexer.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "text/utf8.h"

namespace limpid::jinja {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> tokens() {
    while (at_ < source_.size()) {
      const size_t tag = next_tag();
      add_data(source_.substr(at_, tag - at_), tag);
      advance(tag);
      if (at_ < source_.size()) read_tag();
    }
    add(Token::end, "");
    return std::move(tokens_);
  }

 private:
  enum class Trim { none, line_end, all };

  std::string_view rest() const { return source_.substr(at_); }
  void advance(size_t to) {
    line_ += static_cast<int>(
        std::count(source_.begin() + static_cast<ptrdiff_t>(at_), source_.begin() + static_cast<ptrdiff_t>(to), '\n'));
    at_ = to;
  }
  void add(Token::Kind kind, std::string value) { tokens_.push_back({kind, std::move(value), line_}); }

  size_t next_tag() const {
    for (size_t at = at_; (at = source_.find('{', at)) != source_.npos; ++at)
      if (at + 1 < source_.size() && std::string_view("{%#").find(source_[at + 1]) != std::string_view::npos) return at;
    return source_.size();
  }

  // The text before a tag, without what the tags around it take away.
  void add_data(std::string_view data, size_t tag) {
    if (after_ == Trim::line_end && data.starts_with('\n')) data.remove_prefix(1);
    if (after_ == Trim::all)
      while (!data.empty() && is_white(data.front())) data.remove_prefix(1);
    after_ = Trim::none;
    if (tag < source_.size()) {
      const char kind = source_[tag + 1], mark = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
      if (mark == '-') {
        while (!data.empty() && is_white(data.back())) data.remove_suffix(1);
      } else if (mark != '+' && kind != '{') {
        const size_t text = data.find_last_not_of(" \t");
        const size_t line = text == data.npos ? 0 : text + 1;
        const bool begins_line = line == 0 ? begins_line_at(data.data()) : data[line - 1] == '\n';
        if (begins_line) data = data.substr(0, line);
      }
    }
    if (!data.empty()) add(Token::data, std::string(data));
  }
  bool begins_line_at(const char* begin) const { return begin == source_.data() || begin[-1] == '\n'; }

  void read_tag() {
    const char kind = source_[at_ + 1];
    if (kind == '#') return read_comment();
    const bool print = kind == '{';
    add(print ? Token::print_begin : Token::block_begin, "");
    advance(at_ + 2);
    if (at_ < source_.size() && (source_[at_] == '-' || source_[at_] == '+')) advance(at_ + 1);
    const size_t first = tokens_.size();
    read_inside(print ? "}}" : "%}", print);
    if (!print && tokens_.size() == first + 2 && tokens_[first].value == "raw") read_raw(first - 1);
  }

  void read_comment() {
    const size_t end = source_.find("#}", at_ + 2);
    check(end != source_.npos, "{}: a comment has no end: close it with #}}", [&] { return place(line_); });
    after_ = source_[end - 1] == '-' ? Trim::all : source_[end - 1] == '+' ? Trim::none : Trim::line_end;
    advance(end + 2);
  }

  // What stands between {% raw %} and {% endraw %} is text.
  void read_raw(size_t first) {
    tokens_.resize(first);
    const size_t begin = at_;
    for (size_t at = begin; (at = source_.find("{%", at)) != source_.npos; at += 2) {
      size_t word = at + 2;
      const bool strip = word < source_.size() && source_[word] == '-';
      if (word < source_.size() && (source_[word] == '-' || source_[word] == '+')) ++word;
      while (word < source_.size() && is_white(source_[word])) ++word;
      if (!source_.substr(word).starts_with("endraw")) continue;
      const size_t end = source_.find("%}", word);
      if (end == source_.npos) break;
      std::string_view data = source_.substr(begin, at - begin);
      if (after_ == Trim::line_end && data.starts_with('\n')) data.remove_prefix(1);
      if (after_ == Trim::all)
        while (!data.empty() && is_white(data.front())) data.remove_prefix(1);
      if (strip)
        while (!data.empty() && is_white(data.back())) data.remove_suffix(1);
      if (!data.empty()) add(Token::data, std::string(data));
      after_ = source_[end - 1] == '-' ? Trim::all : Trim::line_end;
      return advance(end + 2);
    }
    fail("{}: raw text has no end: close it with {{% endraw %}}", place(line_));
  }

  void read_inside(std::string_view end, bool print) {
    int brackets = 0;
    while (true) {
      while (at_ < source_.size() && is_white(source_[at_])) advance(at_ + 1);
      check(
          at_ < source_.size(), "{}: a tag has no end: close it with {}", [&] { return place(line_); }, end);
      const bool marked = (rest().front() == '-' || rest().front() == '+') && rest().substr(1).starts_with(end);
      if (brackets <= 0 && (marked || rest().starts_with(end))) {
        after_ = marked && rest().front() == '-' ? Trim::all : print || marked ? Trim::none : Trim::line_end;
        advance(at_ + (marked ? 3 : 2));
        return add(print ? Token::print_end : Token::block_end, "");
      }
      read_token(brackets);
    }
  }

  void read_token(int& brackets) {
    const char c = source_[at_];
    size_t end = at_;
    if (is_letter(c)) {
      while (end < source_.size() && (is_letter(source_[end]) || is_digit(source_[end]))) ++end;
      add(Token::name, std::string(source_.substr(at_, end - at_)));
      return advance(end);
    }
    if (is_digit(c)) return read_number();
    if (c == '"' || c == '\'') return read_text(c);
    constexpr std::array signs = {"**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<",
                                  ">",  "=",  "(",  ")",  "[",  "]",  "{", "}", ",", ".", ":", "|"};
    for (const std::string_view sign : signs) {
      if (!rest().starts_with(sign)) continue;
      if (std::string_view("([{").find(c) != std::string_view::npos) ++brackets;
      if (std::string_view(")]}").find(c) != std::string_view::npos) --brackets;
      add(Token::sign, std::string(sign));
      return advance(at_ + sign.size());
    }
    fail("{}: the character \"{}\" has no meaning here", place(line_),
         c >= ' ' && c <= '~' ? std::string(1, c) : std::string("?"));
  }

  void read_number() {
    size_t end = at_;
    const auto digits = [&] {
      while (end < source_.size() && (is_digit(source_[end]) || source_[end] == '_')) ++end;
    };
    digits();
    bool whole = true;
    if (end + 1 < source_.size() && source_[end] == '.' && is_digit(source_[end + 1])) {
      whole = false;
      ++end;
      digits();
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      size_t exponent = end + 1;
      if (exponent < source_.size() && (source_[exponent] == '+' || source_[exponent] == '-')) ++exponent;
      if (exponent < source_.size() && is_digit(source_[exponent])) {
        whole = false;
        end = exponent;
        digits();
      }
    }
    std::string value(source_.substr(at_, end - at_));
    std::erase(value, '_');
    add(whole ? Token::integer : Token::decimal, std::move(value));
    advance(end);
  }

  void read_text(char quote) {
    std::string value;
    size_t at = at_ + 1;
    for (; at < source_.size() && source_[at] != quote; ++at) {
      if (source_[at] != '\\' || at + 1 >= source_.size()) {
        value += source_[at];
        continue;
      }
      switch (const char c = source_[++at]) {
        case 'n': value += '\n'; break;
        case 't': value += '\t'; break;
        case 'r': value += '\r'; break;
        case 'b': value += '\b'; break;
        case 'f': value += '\f'; break;
        case 'v': value += '\v'; break;
        case 'a': value += '\a'; break;
        case '0': value += '\0'; break;
        case '\n': break;
        case '\\':
        case '\'':
        case '"': value += c; break;
        case 'x': at = add_code(at, 2, value); break;
        case 'u': at = add_code(at, 4, value); break;
        case 'U': at = add_code(at, 8, value); break;
        default: value.append("\\").append(1, c);
      }
    }
    check(at < source_.size(), "{}: a text in quotes has no end", [&] { return place(line_); });
    add(Token::text, std::move(value));
    advance(at + 1);
  }
  // \u2581; returns the place of its last digit.
  size_t add_code(size_t at, size_t digits, std::string& value) const {
    char32_t point = 0;
    for (size_t i = 1; i <= digits; ++i) {
      const char c = at + i < source_.size() ? source_[at + i] : ' ';
      const char small = static_cast<char>(c | 0x20);
      const bool hex = is_digit(c) || (small >= 'a' && small <= 'f');
      check(
          hex, "{}: \\{} wants {} hexadecimal digits", [&] { return place(line_); }, source_[at], digits);
      point = point * 16 + static_cast<char32_t>(is_digit(c) ? c - '0' : small - 'a' + 10);
    }
    append_utf8(value, point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF) ? point : kReplacement);
    return at + digits;
  }

  std::string_view source_;
  size_t at_ = 0;
  int line_ = 1;
  Trim after_ = Trim::none;  // what the last tag takes from the text after it
  std::vector<Token> tokens_;
};

}  // namespace

std::string place(int line) { return fmt::format("[chat template] line {}", line); }

std::vector<Token> lex(std::string_view source) {
  std::string unix;  // line ends as templates are compared by everybody
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
    unix += source[i] == '\r' ? '\n' : source[i];
  }
  if (unix.ends_with('\n')) unix.pop_back();
  return Lexer(unix).tokens();
}

}  // namespace limpid::jinja
