#pragma once
// English-Korean sentence pairs from a grammar, as many as wanted, each a pure function of (seed, index, split):
// nothing is stored, any thread can ask for any pair, and a resumed run sees what the uninterrupted one would have
// seen.
//
// Every English sentence has exactly one Korean sentence (polite 해요 style), and the true word alignment is known.
// What there is to learn: SVO -> SOV, relative clauses before their noun, particles and endings that depend on the last
// sound of a word (책을 / 커피를), definite subject -> topic (학생은) but indefinite -> subject (학생이), tense,
// aspect, modality, negation, questions, numbers with their counters (책 세 권), comparison, coordination, irregular
// verbs.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "corpora/split.h"

namespace limpid {

struct SentencePair {
  std::string english;  // "The students who like coffee did not read the three old books."
  std::string korean;   // "커피를 좋아하는 학생들은 오래된 책 세 권을 읽지 않았어요."
  // (English word, Korean word), both counted from 0 in the text cut at spaces; sorted. Every Korean word is linked.
  // English articles are not: nothing stands for them.
  std::vector<std::pair<int, int>> alignment;
  // Which held-out combinations of words and constructions the sentence has: bits, see withheld_name(). 0 outside
  // Split::compositional, never 0 within.
  uint32_t withheld = 0;
};

class EnglishKorean {
 public:
  explicit EnglishKorean(uint64_t seed = 1) : seed_(seed) {}

  // The splits do not depend on the seed: no seed's training data holds another seed's held-out sentence.
  SentencePair pair(uint64_t index, Split split = Split::train) const;

 private:
  uint64_t seed_;
};

// Which split an English sentence without withheld combinations belongs to: 90 % train, 5 % valid, 5 % test by hash.
Split split_of(std::string_view english);

// The combinations that only Split::compositional shows: one for each bit of SentencePair::withheld.
inline constexpr int kWithheldKinds = 5;
std::string_view withheld_name(int kind);           // "past-negation", …
std::string_view withheld_description(int kind);    // one line for people
std::vector<std::string> withheld_words(int kind);  // the words it holds for: "buy", "nurse", "three 권"

// English words of the grammar, each counted once however many forms it has; function words are not counted.
int64_t english_korean_lemmas();

// How many different plain statements of one shape there are: determiner, perhaps an adjective, subject, verb,
// determiner, perhaps an adjective, object, in three tenses, affirmed or negated. A lower bound of all sentences,
// counted exactly from the word lists.
double english_korean_plain_statements();

}  // namespace limpid
