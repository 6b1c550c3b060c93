#pragma once
// UTF-8: is a text valid, its code points one by one, its letters in lower case.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace limpid {

constexpr char32_t kReplacement = 0xFFFD;  // stands for bytes that are no text

// Position of the first byte that belongs to no valid character, if there is one. Invalid are stray or missing
// continuation bytes, forms longer than needed, surrogates and what lies above U+10FFFF (RFC 3629).
std::optional<size_t> invalid_utf8(std::string_view text);

struct CodePoint {
  char32_t value;
  size_t bytes;  // it takes in the text
};

// The first code point of a text that is not empty; a byte that is none counts as one U+FFFD.
CodePoint first_code_point(std::string_view text);

void append_utf8(std::string& text, char32_t code_point);

// Calls body(code point, its bytes as a view) for every code point of the text.
template <class Body>
void each_code_point(std::string_view text, const Body& body) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    body(point.value, text.substr(0, point.bytes));
    text.remove_prefix(point.bytes);
  }
}

// Bytes that are no text as U+FFFD.
std::string repaired_utf8(std::string text);

// Every letter in lower case, by Unicode's table and without regard to language or neighbours ("Σ" is "σ" at the end of
// a word too). Other characters stay.
std::string lower_case(std::string_view text);

// Unicode's White_Space property: what separates words.
bool is_space(char32_t code_point);

}  // namespace limpid
