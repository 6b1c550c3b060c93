#pragma once
// Texts that translators are compared on by length: sentences of the project's own grammar joined to 5 … 60 words, or
// the captions of Multi30k.

#include <functional>
#include <string>
#include <vector>

#include "experiments/lab.h"
#include "scoring/bleu.h"

namespace limpid {

struct TextPairs {
  std::vector<std::string> sources, references;
};

struct LengthTexts {
  LabCorpus corpus;        // train.source, train.target, valid.source, valid.target
  std::string tokenizer;   // lines of the recipe's [tokenizer]
  int64_t vocabulary = 0;  // of the output layer, about: what it costs
  BleuTokenizer tokens = BleuTokenizer::none;
  double words = 0;            // of a text of usual length
  std::vector<int64_t> edges;  // source words: [5, 10), [10, 20), …
  // New texts of a group, at most so many, none of which is in the corpus.
  std::function<TextPairs(size_t group, int64_t most)> group;
};

LengthTexts joined_texts(const Lab& lab);
LengthTexts multi30k_texts(const Lab& lab);

}  // namespace limpid
