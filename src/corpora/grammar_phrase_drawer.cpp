#include "corpora/grammar_phrase_drawer.h"

namespace limpid::grammar {

Determiner PhraseDrawer::determiner_singular() {
  const int64_t choice = random_.below(100);
  return choice < 42   ? Determiner::the
         : choice < 64 ? Determiner::a
         : choice < 71 ? Determiner::this_
         : choice < 78 ? Determiner::that
         : choice < 87 ? Determiner::my
         : choice < 92 ? Determiner::our
                       : Determiner::owner;
}

void PhraseDrawer::determine_plural(NounPhrase& np, bool bare) {
  np.plural = true;
  const int64_t choice = random_.below(100);
  np.determiner = choice < 45   ? Determiner::the
                  : choice < 70 ? (bare ? Determiner::none : Determiner::the)
                  : choice < 78 ? Determiner::this_
                  : choice < 86 ? Determiner::that
                  : choice < 93 ? Determiner::my
                                : Determiner::our;
}

void PhraseDrawer::determine_number(NounPhrase& np) {
  np.number = static_cast<int>(random_.below(static_cast<int64_t>(w_.numbers.size())));
  np.plural = np.number > 0;
  const int64_t choice = random_.below(100);
  // "the one book" and "these one" are no English.
  np.determiner = !np.plural || choice < 60 ? Determiner::none : choice < 90 ? Determiner::the : Determiner::my;
}

void PhraseDrawer::determine_mass(NounPhrase& np, bool countable_drink) {
  if (np.noun->is(kTransit)) {
    np.determiner = Determiner::the;  // the subway
  } else if (np.noun->is(kDrink) && countable_drink && chance(30)) {
    np.cups = true;
    np.number = static_cast<int>(random_.below(6));
    np.plural = np.number > 0;
  } else if (np.noun->is(kFood | kDrink) && chance(30)) {
    np.determiner = chance(75) ? Determiner::the : Determiner::this_;
  }
}

void PhraseDrawer::determine(NounPhrase& np, bool object, bool countable_drink) {
  if (np.noun->is(kName | kPronoun)) {
    np.plural = np.noun->plural_only;
    return;
  }
  if (np.noun->is(kMass)) return determine_mass(np, countable_drink);
  const int64_t choice = random_.below(100);
  if (choice < 15)
    determine_number(np);
  else if (choice < 35)
    determine_plural(np, object);
  else
    np.determiner = determiner_singular();
  if (np.determiner >= Determiner::my && !owned(*np.noun)) np.determiner = Determiner::the;
  if (np.determiner == Determiner::owner) np.owner = any(w_.names);
}

void PhraseDrawer::describe(NounPhrase& np, int percent) {
  if (np.noun->adjectives.empty() || np.noun->is(kStudy) || !chance(percent)) return;
  np.adjective = any(np.noun->adjectives);
  const bool single = np.determiner == Determiner::the && !np.plural && np.number < 0 && !np.noun->is(kMass);
  np.superlative = single && !np.adjective->superlative.empty() && chance(25);
}

NounPhrase PhraseDrawer::subject_of(const Verb& verb) {
  const bool person = (verb.subjects & kPerson) != 0;
  if (person && chance(22)) return {.noun = any(w_.names)};
  if (person && chance(22)) return pronoun();
  return common(verb.subject_nouns, false, 24);
}

NounPhrase PhraseDrawer::pronoun() {
  NounPhrase np{.noun = any(w_.pronouns)};
  np.plural = np.noun->plural_only;
  return np;
}

NounPhrase PhraseDrawer::common(const std::vector<const Noun*>& nouns, bool object, int percent) {
  NounPhrase np{.noun = any(nouns)};
  determine(np, object);
  describe(np, percent);
  return np;
}

NounPhrase PhraseDrawer::object_of(const Verb& verb, const NounPhrase& subject, int percent) {
  NounPhrase np{.noun = any(verb.object_nouns)};
  const auto clashes = [&] {
    return np.noun == subject.noun || (np.noun->is(kPronoun) && subject.noun != nullptr && subject.noun->is(kPronoun));
  };
  while (clashes()) np.noun = any(verb.object_nouns);
  determine(np, true, verb.base == "drink" || verb.base == "buy" || verb.base == "need");
  describe(np, percent);
  return np;
}

NounPhrase PhraseDrawer::place() {
  if (chance(15)) return {.noun = any(w_.cities)};
  NounPhrase np{.noun = any(w_.places), .determiner = Determiner::the};
  if (chance(20)) np.determiner = chance(50) ? Determiner::this_ : Determiner::that;
  describe(np, 10);
  return np;
}

NounPhrase PhraseDrawer::short_person() {
  if (chance(35)) return {.noun = any(w_.names)};
  NounPhrase np{.noun = any(w_.persons), .determiner = Determiner::the};
  if (owned(*np.noun) && chance(60)) np.determiner = Determiner::my;
  return np;
}

void PhraseDrawer::add_also(NounPhrase& np, const std::vector<const Noun*>& nouns) {
  const Noun* other = any(nouns);
  const bool plain = !np.relative && !np.adjective && np.number < 0 && !np.plural && !np.cups;
  const bool fits =
      np.determiner == Determiner::the || (np.noun->is(kMass | kName) && np.determiner == Determiner::none);
  if (!plain || !fits || np.noun->is(kPronoun) || other == np.noun || other->is(kPronoun)) return;
  s_.also = {.noun = other};
  if (!other->is(kMass | kName) || other->is(kTransit)) s_.also.determiner = Determiner::the;
  np.also = &s_.also;
}

bool PhraseDrawer::add_relative(NounPhrase& np) {
  if (np.noun->is(kName | kPronoun | kMass) || np.also || np.superlative || s_.joint != Joint::none) return false;
  if (np.determiner == Determiner::owner || np.determiner == Determiner::that) return false;
  Clause& c = s_.relative;
  const bool living = np.noun->is(kPerson | kAnimal);
  if (living && chance(70)) {
    relative_subject(c, np);
  } else if (!np.noun->object_of.empty() && (living || chance(80))) {
    relative_object(c, np);
  } else if (handy(*np.noun)) {
    c.kind = ClauseKind::is_at;
    c.gap = Gap::subject;
    on_furniture(c);
    c.tense = chance(70) ? Tense::present : Tense::past;
  } else {
    return false;
  }
  np.relative = &c;
  return true;
}

void PhraseDrawer::relative_subject(Clause& c, const NounPhrase& head) {
  c.gap = Gap::subject;
  do {
    const int64_t choice = random_.below(10);
    c.verb = choice < 7 ? any(w_.transitive) : choice < 9 ? any(w_.intransitive) : any(w_.live);
  } while (!head.noun->is(c.verb->subjects));
  inflect_relative(c, head.many());
  if (c.verb->frame == Frame::transitive) c.object = object_of(*c.verb, head, 8);
  if (c.object.noun != nullptr && c.object.noun->is(kPronoun)) c.object = {.noun = any(w_.names)};
  if (c.verb->frame == Frame::live || (c.verb->frame == Frame::intransitive && chance(40))) c.place = place();
}

void PhraseDrawer::relative_object(Clause& c, const NounPhrase& head) {
  c.gap = Gap::object;
  c.verb = any(head.noun->object_of);
  do c.subject = chance(25) ? pronoun() : short_person();
  while (c.subject.noun == head.noun);
  inflect_relative(c, c.subject.many());
}

void PhraseDrawer::inflect_relative(Clause& c, bool many) {
  const int64_t choice = random_.below(100);
  c.tense = choice < 40 ? Tense::present : choice < 85 || c.verb->stative ? Tense::past : Tense::future;
  c.negative = chance(15);
  settle(c, many);
}

void PhraseDrawer::settle(Clause& c, bool many_or_first) {
  const bool bare = c.tense == Tense::present && c.mode == Mode::plain && !c.negative && many_or_first;
  if (bare && c.verb->ambiguous_present()) c.tense = Tense::past;
}

void PhraseDrawer::on_furniture(Clause& c) {
  c.place.determiner = chance(75) ? Determiner::the : chance(50) ? Determiner::this_ : Determiner::my;
  if (chance(70)) {
    c.place.noun = any(w_.surfaces);
    c.relation = &any(w_.relations);
  } else {
    c.place.noun = any(w_.holders);
  }
  describe(c.place, 15);
}

void PhraseDrawer::where_it_is(Clause& c, const NounPhrase& np) {
  if (np.noun->is(kPerson) || chance(np.noun->is(kAnimal) ? 60 : 20))
    c.place = place();
  else
    on_furniture(c);
  while (c.place.noun == np.noun) on_furniture(c);
}

}  // namespace limpid::grammar
