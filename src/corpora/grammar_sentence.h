#pragma once
// A sentence of the English-Korean grammar as a tree, before it is written in either language.

#include "base/random.h"
#include "corpora/grammar_words.h"

namespace limpid::grammar {

struct Clause;

enum class Determiner { none, the, a, this_, that, my, our, owner };

struct NounPhrase {
  const Noun* noun = nullptr;  // null: there is none
  Determiner determiner = Determiner::none;
  const Noun* owner = nullptr;  // Minho's
  bool plural = false;
  int number = -1;    // index of a numeral
  bool cups = false;  // two cups of coffee
  const Adjective* adjective = nullptr;
  bool superlative = false;
  const Clause* relative = nullptr;  // who reads the book
  const NounPhrase* also = nullptr;  // and the teacher

  explicit operator bool() const { return noun != nullptr; }
  bool definite() const;  // a definite subject becomes the topic
  bool many() const;      // for the agreement of verbs
};

enum class Tense { present, past, future };
enum class Mode { plain, progressive, can, want, must };
enum class ClauseKind { action, is_noun, is_adjective, compare, is_at, there_is };
enum class Gap { none, subject, object };  // what a relative clause leaves out

struct Clause {
  ClauseKind kind = ClauseKind::action;
  Gap gap = Gap::none;
  NounPhrase subject, object, recipient, place, companion;  // object: also what something is, or is compared with
  const Noun* instrument = nullptr;                         // with a pen
  const Noun* vehicle = nullptr;                            // by bus
  const Relation* relation = nullptr;                       // on, under the place; null: in, at it
  const Verb* verb = nullptr;
  const Adjective* adjective = nullptr;
  Tense tense = Tense::present;
  Mode mode = Mode::plain;
  bool negative = false;
  bool very = false;
  bool recipient_first = false;  // gave the student a book
  bool time_first = false;
  const Adverb *time = nullptr, *frequency = nullptr, *manner = nullptr;
  int hour = -1;  // at seven o'clock: index of a numeral
};

enum class Question { none, yes_no, subject, object, where, when, why, how_many };
enum class Joint { none, and_, but };

// The parts point into one another, so a sentence stays where it was made.
struct Sentence {
  Sentence() = default;
  Sentence(const Sentence&) = delete;
  Sentence& operator=(const Sentence&) = delete;

  Question question = Question::none;
  Joint joint = Joint::none;
  Clause main, second, relative;
  NounPhrase also;
};

// Whether somebody can have it: my friend, but not my foreigner; my house, but not my mountain.
bool owned(const Noun& noun);

// Small enough to lie on a chair or in a bag.
bool handy(const Noun& noun);

// Persons are compared with persons, animals with animals, things with things of their sort.
bool alike(const Noun& a, const Noun& b);

// Draws a sentence.
void draw(Random& random, Sentence& sentence);

// Combinations of words and constructions that training never shows: bits, see english_korean.h.
uint32_t withheld(const Sentence& sentence);
bool withheld_past_negation(const Verb& verb);
bool withheld_can(const Verb& verb);
bool withheld_relative(const Noun& noun);
bool withheld_number(int number, Counter counter);
bool withheld_adjective_negation(const Adjective& adjective);

}  // namespace limpid::grammar
