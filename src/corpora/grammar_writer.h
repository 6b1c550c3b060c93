#pragma once
// Writes a sentence tree in both languages at once and keeps track of which Korean word stands for which English ones.

#include "corpora/english_korean.h"
#include "corpora/grammar_sentence.h"

namespace limpid::grammar {

SentencePair write(const Sentence& sentence);

// A Korean word (eojeol: what stands between spaces) and the English words it carries, as bits.
struct Eojeol {
  std::string text;
  uint64_t english = 0;
};
using Phrase = std::vector<Eojeol>;

// The English words of a verb group, as bits.
struct VerbLinks {
  uint64_t verb = 0;       // the verb and its preposition
  uint64_t auxiliary = 0;  // do, will, can, must, be
  uint64_t negation = 0;   // not
  uint64_t want = 0;       // want to
  uint64_t joint = 0;      // and, but, who, which
};

enum class Ending { polite, and_, but, before_noun };

struct KoreanVerb {
  const Conjugation* forms = nullptr;
  const Conjugation* negative = nullptr;  // its own negative word, or null
  bool adjectival = false;
};

// 읽고 싶어 하지 않았어요: appends the words of a verb group.
void append_verb_group(Phrase& out, KoreanVerb verb, Tense tense, Mode mode, bool negative, bool first_person,
                       Ending ending, const VerbLinks& links);

}  // namespace limpid::grammar
