#pragma once
// Writes noun phrases, verb groups, places and relative clauses: what the sentences of grammar_writer.cpp are made of.
// The English words are written as they come; the Korean ones are returned, to be put in their own order.

#include "corpora/grammar_writer.h"

namespace limpid::grammar {

// How the subject makes the English verb agree.
struct Agreement {
  bool third = true;   // he reads
  bool first = false;  // I am
  std::string_view be(bool past) const {
    if (past) return third || first ? "was" : "were";
    return third ? "is" : first ? "am" : "are";
  }
};

Agreement agreement_of(const NounPhrase& subject);

const Conjugation& existence(bool negative);  // 있다, 없다
bool vowel_sound(std::string_view word);      // an apple
void append(Phrase& out, Phrase&& more);
Phrase attach(Phrase&& phrase, Particle particle, uint64_t links = 0);  // to its last word

class PhraseWriter {
 protected:
  // Returns the bits of the words written.
  uint64_t say(std::string_view text);
  uint64_t say_unless_empty(std::string_view text) { return text.empty() ? 0 : say(text); }
  // Several words against several: one to one where their numbers agree, else all to all. An article carries nothing.
  Phrase say_adverb(std::string_view english, std::string_view korean);

  struct Parts {
    Eojeol determiner, most, adjective, number;
  };
  void say_determiner(const NounPhrase& np, Parts& parts, std::string_view next);
  void say_adjective(const NounPhrase& np, Parts& parts);
  static std::string korean_noun(const NounPhrase& np);
  Phrase say_noun_phrase(const NounPhrase& np, bool object_form = false);

  // What comes before the subject in a question, or after it in a statement.
  std::string_view auxiliary(const Clause& c, Agreement agreement, bool needs_do) const;
  static std::string_view finite(const Clause& c, Agreement agreement, std::string_view base, std::string_view third,
                                 std::string_view past);
  // "did not often want to read": after the subject; links.auxiliary is set where it stood before the subject.
  void say_verb_group(const Clause& c, Agreement agreement, VerbLinks& links, bool has_auxiliary, Phrase* frequency);
  void append_verb(Phrase& out, const Clause& c, bool first_person, Ending ending, const VerbLinks& links) const;

  void say_relative(const Clause& c, const NounPhrase& head, Phrase& out);
  // "under the chair" 의자 아래에, "in the box" 상자 안에, "in the park" 공원에서.
  Phrase say_place(const Clause& c, Particle particle);
  static Particle place_particle(const Clause& c);
  Phrase say_time(const Clause& c);

  std::string english_;
  int count_ = 0;  // English words so far
};

}  // namespace limpid::grammar
