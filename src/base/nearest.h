#pragma once
// The word somebody meant: for messages about misspelt keys, commands and options.

#include <span>
#include <string>
#include <string_view>

namespace limpid {

// The known word nearest to the given one, without regard to upper and lower case: the fewest letters to insert,
// remove, replace or swap with their neighbour, the first of equals. A beginning of a known word is near it. Empty
// where nothing is near enough to be meant: more than a third of the letters, and more than one, are wrong.
std::string nearest(std::string_view word, std::span<const std::string_view> known);

// "; did you mean x?", or nothing where nothing is near: the end of a message.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace limpid
