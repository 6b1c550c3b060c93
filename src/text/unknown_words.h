#pragma once
// What a vocabulary cannot say, told before it is silently read as something else.

#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace limpid {

// "; did you mean Jordan?": the token nearest to a word, as the end of a message; nothing where none is near.
std::string nearest_token(const Tokenizer& tokenizer, std::string_view word);

// For each word of a text that the vocabulary cannot say, or not all of, a sentence for people; at most so many.
std::vector<std::string> unknown_word_notes(const Tokenizer& tokenizer, std::string_view text, size_t most = 5);

}  // namespace limpid
