#pragma once
// Where a translator looks, word by word: the cross-attention of one head while it writes a given translation.

#include <string>
#include <utility>
#include <vector>

#include "models/seq2seq.h"
#include "text/tokenizer.h"

namespace limpid {

struct WordAttention {
  std::vector<std::string> source, target;  // words
  std::vector<std::vector<double>>
      pattern;  // (target, source): attention of a word's tokens, summed over the words' tokens
};

struct Head {
  int64_t layer = 0, head = 0;
};

WordAttention word_attention(const Seq2Seq& model, const Tokenizers& tokenizers, const std::string& source,
                             const std::string& target, Head head);

// A sentence pair with its true alignment: (source word, target word).
struct AlignedPair {
  std::string source, target;
  std::vector<std::pair<int, int>> alignment;
};

// The head whose strongest source word is most often one that the target word is truly aligned to, and how often (0 …
// 1).
struct AligningHead {
  Head head;
  double agreement = 0;
};
AligningHead find_aligning_head(const Seq2Seq& model, const Tokenizers& tokenizers,
                                const std::vector<AlignedPair>& pairs);

// The pattern as a picture for a terminal: one row a target word, one column a source word.
std::string draw(const WordAttention& attention);

}  // namespace limpid
