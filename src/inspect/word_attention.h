#pragma once
// Where a translator looks, word by word: its attention over the source while it writes a given translation.

#include <string>
#include <utility>
#include <vector>

#include "inference/alignment.h"
#include "text/tokenizer.h"

namespace limpid {

struct WordAttention {
  std::vector<std::string> source, target;  // words
  // (target, source): summed over a source word's tokens, mean over a target word's.
  std::vector<std::vector<double>> pattern;
};

struct Head {
  int64_t layer = 0, head = 0;
};

// Attention of tokens (both with their end tokens) as attention of words.
WordAttention attention_of_words(const Tokenizers& tokenizers, const std::string& source, const std::string& target,
                                 const Alignment& alignment);

// What the model is given for a text: its tokens and the end token.
std::vector<int32_t> ids_with_end(const Tokenizer& tokenizer, const std::string& text);

// Of one head, of a layer's mean, or of the mean of all heads.
WordAttention word_attention(const Model& model, const Tokenizers& tokenizers, const std::string& source,
                             const std::string& target, const AlignmentOptions& which);
inline WordAttention word_attention(const Model& model, const Tokenizers& tokenizers, const std::string& source,
                                    const std::string& target, Head head) {
  return word_attention(model, tokenizers, source, target, AlignmentOptions{.layer = head.layer, .head = head.head});
}

// A sentence pair with its true alignment: (source word, target word).
struct AlignedPair {
  std::string source, target;
  std::vector<std::pair<int, int>> alignment;
};

// The head with the least error, and how often its strongest source word is a true one (0 … 1).
struct AligningHead {
  Head head;
  double agreement = 0;
};
AligningHead find_aligning_head(const Model& model, const Tokenizers& tokenizers,
                                const std::vector<AlignedPair>& pairs);

// The pattern as a picture for a terminal: one row a target word, one column a source word.
std::string draw(const WordAttention& attention);

}  // namespace limpid
