#pragma once
// The demonstration's task: write a word backwards. Small enough to learn in seconds, and its cross-attention can be
// read at a glance: it runs from the end of the source to its beginning.

#include <string>
#include <vector>

#include "base/random.h"
#include "models/seq2seq.h"

namespace limpid {

constexpr int32_t kPad = 0, kEnd = 1, kFirstLetter = 2;

Config reversal_config();

// Random words of lower-case letters, and how the model sees them.
std::vector<std::string> random_words(Random& random, int64_t count);
std::vector<int32_t> ids_of(const std::string& word);  // with the end token
std::string reversed(const std::string& word);
Batch reversal_batch(const std::vector<std::string>& words);

// What the model writes for each word, the likeliest letter at every step.
std::vector<std::string> write_backwards(const Seq2Seq& model, const std::vector<std::string>& words);

// The pattern of one head of the last decoder block's cross-attention while it writes the word: (letters + end)
// squared.
std::vector<std::vector<real>> cross_attention(const Seq2Seq& model, const std::string& word, int64_t head);

}  // namespace limpid
