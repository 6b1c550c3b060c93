#pragma once
// What a text looks like, for advice on how to score it.

#include <cstdint>
#include <span>
#include <string>

namespace limpid {

// Lines that end in a full stop on its own. From kManyTokenizedLines on, sacreBLEU takes the text for tokenised: scored
// as it stands, it cannot be compared with published scores.
inline constexpr int64_t kManyTokenizedLines = 100;
int64_t tokenized_lines(std::span<const std::string> lines);

// The share of Hangul in the letters, 0 … 1. Korean joins particles and endings to its words, so a BLEU over words
// divided by spaces counts half-right words as wrong.
double hangul_share(std::span<const std::string> lines);

}  // namespace limpid
