#pragma once
// Draws noun phrases, places and relative clauses: what the sentences of grammar_draw.cpp are made of.

#include "corpora/grammar_sentence.h"

namespace limpid::grammar {

class PhraseDrawer {
 public:
  PhraseDrawer(Random& random, Sentence& sentence) : random_(random), s_(sentence), w_(words()) {}

 protected:
  bool chance(int percent) { return random_.below(100) < percent; }
  template <class T>
  const T& any(const std::vector<T>& list) {
    return list[random_.below(static_cast<int64_t>(list.size()))];
  }

  // Article, number, possessor: as a subject or an object, which may do without.
  Determiner determiner_singular();
  void determine_plural(NounPhrase& np, bool bare);
  void determine_number(NounPhrase& np);
  void determine_mass(NounPhrase& np, bool countable_drink);
  void determine(NounPhrase& np, bool object, bool countable_drink = false);
  void describe(NounPhrase& np, int percent);  // an adjective, so often

  NounPhrase subject_of(const Verb& verb);
  NounPhrase pronoun();
  NounPhrase common(const std::vector<const Noun*>& nouns, bool object, int percent);
  // Any object of the verb but the subject itself; no "me" for "I".
  NounPhrase object_of(const Verb& verb, const NounPhrase& subject, int percent = 28);
  NounPhrase place();
  NounPhrase short_person();
  void on_furniture(Clause& c);
  void where_it_is(Clause& c, const NounPhrase& np);

  // "… and the teacher": both definite, or both without article.
  void add_also(NounPhrase& np, const std::vector<const Noun*>& nouns);

  // Relative clauses: at most one in a sentence. False where the phrase can have none.
  bool add_relative(NounPhrase& np);
  void relative_subject(Clause& c, const NounPhrase& head);
  void relative_object(Clause& c, const NounPhrase& head);
  void inflect_relative(Clause& c, bool many);

  // "They read" is written for the past only.
  void settle(Clause& c, bool many_or_first);

  Random& random_;
  Sentence& s_;
  const Words& w_;
};

}  // namespace limpid::grammar
