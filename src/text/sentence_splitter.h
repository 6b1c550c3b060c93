#pragma once
// Sentences of a text, for models that were trained on sentences and for texts longer than a model can read.
//
// A sentence ends behind ". ! ? …" and closing quotes or brackets where white space follows, unless what follows begins
// with a small letter. A full stop ends none behind an abbreviation ("Dr.", "z. B."), an initial ("J. Smith") or a
// number of one or two digits, which counts in many languages ("am 3. Oktober") or numbers a list; within a number or a
// name ("3.14", "example.com") no white space follows. Chinese and Japanese marks (。！？) end one wherever they stand.
// In doubt sentences stay together: two sentences at once are translated better than half a one.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

// In order, without the white space between them; none is empty.
std::vector<std::string_view> split_sentences(std::string_view text);

// A sentence in parts that fit, as few as there are when each takes as much as it can: between clauses (", ; :"), where
// one does not fit between words, where one does not fit between characters. A single character is a part even if it
// does not fit.
std::vector<std::string_view> split_to_fit(std::string_view sentence,
                                           const std::function<bool(std::string_view)>& fits);

// One text again: with spaces between the parts, but for none between characters of scripts that write none.
std::string join_sentences(std::span<const std::string> parts);

}  // namespace limpid
