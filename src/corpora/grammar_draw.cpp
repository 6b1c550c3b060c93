// Draws sentences: which construction, which words, and what goes with what.

#include "corpora/grammar_phrase_drawer.h"

namespace limpid::grammar {
namespace {

class Drawer : public PhraseDrawer {
 public:
  using PhraseDrawer::PhraseDrawer;

  void draw() {
    const int64_t choice = random_.below(100);
    if (choice < 52)
      action();
    else if (choice < 60)
      give();
    else if (choice < 70)
      is_adjective();
    else if (choice < 77)
      is_noun();
    else if (choice < 82)
      compare();
    else if (choice < 87)
      is_at();
    else if (choice < 92)
      there_is();
    else
      joined();
  }

 private:
  void inflect(Clause& c) {
    const int64_t choice = random_.below(100);
    c.tense = choice < 32 ? Tense::present : choice < 78 ? Tense::past : Tense::future;
    c.negative = chance(18);
    if (c.verb->stative || !chance(26)) return;
    const int64_t mode = random_.below(10);
    c.mode = mode < 3 ? Mode::progressive : mode < 6 ? Mode::can : mode < 9 ? Mode::want : Mode::must;
    if (c.mode == Mode::can || c.mode == Mode::must || c.tense == Tense::future) c.tense = Tense::present;
    if (c.mode == Mode::must) c.negative = false;
  }

  void add_time(Clause& c, bool end_is_free) {
    if (c.mode != Mode::plain || c.verb->stative || !chance(30)) return;
    if (end_is_free && chance(15)) {
      c.hour = static_cast<int>(random_.below(12));
      return;
    }
    const unsigned bit = 1u << static_cast<unsigned>(c.tense);
    do c.time = &any(w_.times);
    while ((c.time->tenses & bit) == 0);
    c.time_first = !end_is_free || chance(30);
  }

  // What stands after the object; not after a relative clause, where it would belong to that.
  void add_circumstances(Clause& c) {
    const bool place_free = c.verb->frame == Frame::transitive || c.verb->frame == Frame::intransitive;
    const bool about_place = c.object && c.object.noun->is(kPlace);
    if (!c.verb->stative) {
      if (place_free && !about_place && chance(24)) c.place = place();
      if (chance(10)) c.manner = &any(w_.manners);
      if (!c.manner && (c.verb->subjects & kPerson) && !c.subject.noun->is(kAnimal) && chance(8)) add_companion(c);
      if (!c.companion && !c.verb->instruments.empty() && chance(40)) c.instrument = any(c.verb->instruments);
    }
    if (c.verb->frame == Frame::to && !c.subject.noun->is(kAnimal) && chance(40)) {
      do c.vehicle = any(w_.vehicles);
      while (c.vehicle->is(kFixed) && !c.vehicle->is(kCar) && !c.place.noun->is(kCity));  // trains go from town to town
    }
  }

  void add_companion(Clause& c) {
    const NounPhrase friend_np = short_person();
    if (friend_np.noun != c.subject.noun && friend_np.noun != c.object.noun) c.companion = friend_np;
  }

  void action() {
    Clause& c = s_.main;
    const int64_t choice = random_.below(100);
    c.verb = choice < 72   ? any(w_.transitive)
             : choice < 85 ? any(w_.intransitive)
             : choice < 94 ? any(w_.motion)
                           : any(w_.live);
    c.subject = subject_of(*c.verb);
    inflect(c);
    if (c.verb->frame == Frame::transitive) c.object = object_of(*c.verb, c.subject);
    if (c.verb->frame != Frame::transitive && c.verb->frame != Frame::intransitive) c.place = place();
    const bool on_subject = chance(20) && add_relative(c.subject);
    const bool on_object = !on_subject && c.object && chance(16) && add_relative(c.object);
    if (!on_subject && !on_object) {
      if (c.object && chance(10)) add_also(c.object, c.verb->object_nouns);
      if (!c.object.also && (c.verb->subjects & kPerson) && !c.subject.noun->is(kAnimal) && chance(10))
        add_also(c.subject, chance(50) ? w_.names : w_.persons);
    }
    finish_action(c, !on_object);
  }

  void finish_action(Clause& c, bool end_is_free) {
    if (end_is_free) add_circumstances(c);
    const bool steady = c.mode == Mode::plain && !c.negative && c.tense != Tense::future;
    if (steady && !c.verb->stative && chance(10))
      c.frequency = &any(w_.frequencies);
    else
      add_time(c, end_is_free);
    settle(c, c.subject.many() || c.subject.noun->first_person);
    if (chance(26)) ask(c, end_is_free);
  }

  // Turns the statement into a question where one makes sense.
  void ask(Clause& c, bool end_is_free) {
    if (c.negative || c.subject.noun->first_person) return;
    c.time_first = false;
    if (!end_is_free) c.time = nullptr;
    const bool who_did = c.subject.noun->is(kPerson) && !c.subject.relative && !c.subject.also;
    const int64_t choice = random_.below(100);
    if (choice < 34) {
      s_.question = Question::yes_no;
    } else if (choice < 48) {
      if (!who_did) return;
      s_.question = Question::subject;
      c.subject.plural = false;  // who reads
    } else if (choice < 64) {
      const bool clear = c.object && c.verb->asks_object && !c.object.relative && !c.object.also;
      if (!clear || c.instrument) return;
      s_.question = Question::object;
    } else if (choice < 74) {
      const bool clear = c.verb->frame == Frame::transitive || c.verb->frame == Frame::intransitive ||
                         ((c.verb->frame == Frame::to || c.verb->frame == Frame::live) && c.verb->asks_object);
      if (!clear || (c.object && c.object.noun->is(kPlace))) return;
      if (c.verb->stative && c.verb->frame != Frame::live) return;
      s_.question = Question::where;
      c.place = {};
    } else if (choice < 82) {
      if (c.mode != Mode::plain || c.frequency) return;
      s_.question = Question::when;
      c.time = nullptr;
      c.hour = -1;
    } else if (choice < 88) {
      s_.question = Question::why;
    } else {
      how_many(c);
    }
  }

  void how_many(Clause& c) {
    if (!c.object || c.object.noun->is(kMass | kName | kPronoun) || c.object.relative || c.object.also) return;
    const Particle particle = c.verb->object_particle;
    if (particle == Particle::object || particle == Particle::subject) s_.question = Question::how_many;
  }

  void give() {
    Clause& c = s_.main;
    c.verb = any(w_.give);
    c.subject = subject_of(*c.verb);
    inflect(c);
    c.object = object_of(*c.verb, c.subject, 20);
    do c.recipient = chance(20) ? pronoun() : short_person();
    while (c.recipient.noun == c.subject.noun || (c.recipient.noun->is(kPronoun) && c.subject.noun->is(kPronoun)));
    // "showed her dresses" could be somebody's dresses.
    c.recipient_first = chance(40) && (c.recipient.noun->english != "she" || c.object.determiner != Determiner::none);
    const bool related = chance(12) && add_relative(c.subject);
    if (!related) add_time(c, true);
    settle(c, c.subject.many() || c.subject.noun->first_person);
    if (!c.negative && !c.subject.noun->first_person && chance(20)) {
      s_.question = chance(70) ? Question::yes_no : Question::why;
      c.time_first = false;
    }
  }

  void inflect_be(Clause& c) {
    c.tense = chance(62) ? Tense::present : Tense::past;
    c.negative = chance(25);
  }

  void ask_be(Clause& c) {
    if (!c.negative && !c.subject.noun->first_person && chance(22)) s_.question = Question::yes_no;
  }

  // A subject with something to say about it: a common noun that has predicates.
  NounPhrase described_subject(bool comparable) {
    NounPhrase np;
    do np.noun = &any(w_.nouns);
    while ((comparable ? np.noun->comparatives : np.noun->predicates).empty());
    determine_definite(np);
    return np;
  }

  void determine_definite(NounPhrase& np) {
    do {
      np = {.noun = np.noun};
      determine(np, false);
    } while (!np.definite());
  }

  void is_adjective() {
    Clause& c = s_.main;
    c.kind = ClauseKind::is_adjective;
    c.subject = described_subject(false);
    c.adjective = any(c.subject.noun->predicates);
    if (c.subject.noun->is(kPerson) && chance(30))
      c.subject = chance(50) ? pronoun() : NounPhrase{.noun = any(w_.names)};
    inflect_be(c);
    if (chance(10)) c.tense = Tense::future;
    c.very = !c.negative && chance(25);
    if (!c.subject.noun->is(kStudy) && chance(35)) add_relative(c.subject);
    ask_be(c);
  }

  void compare() {
    Clause& c = s_.main;
    c.kind = ClauseKind::compare;
    do {
      c.subject = described_subject(true);
      c.adjective = any(c.subject.noun->comparatives);
      c.object = {.noun = any(c.adjective->nouns)};
    } while (c.object.noun == c.subject.noun || !alike(*c.subject.noun, *c.object.noun));
    determine_definite(c.object);
    if (c.subject.noun->is(kPerson) && chance(40)) c.subject = {.noun = any(w_.names)};
    c.tense = chance(70) ? Tense::present : Tense::past;
    ask_be(c);
  }

  void is_noun() {
    Clause& c = s_.main;
    c.kind = ClauseKind::is_noun;
    c.subject = chance(45) ? NounPhrase{.noun = any(w_.names)} : chance(35) ? pronoun() : common(w_.persons, false, 20);
    while (c.subject.many() || !c.subject.definite())
      c.subject = chance(50) ? pronoun() : common(w_.persons, false, 20);
    do c.object = common(w_.professions, true, 30);
    while (c.object.plural || c.object.number >= 0 || c.object.noun == c.subject.noun || c.object.superlative ||
           c.object.determiner == Determiner::this_ || c.object.determiner == Determiner::that);
    inflect_be(c);
    if (c.subject.noun->is(kName | kPronoun) && chance(30)) add_relative(c.object);
    ask_be(c);
  }

  void is_at() {
    Clause& c = s_.main;
    c.kind = ClauseKind::is_at;
    do c.subject = common(chance(50) ? w_.kept : w_.findable, false, 20);
    while (!c.subject.definite());
    where_it_is(c, c.subject);
    inflect_be(c);
    if (chance(10)) c.tense = Tense::future;
    ask_be(c);
    if (s_.question == Question::yes_no && chance(40)) {
      s_.question = Question::where;
      c.place = {};
      c.relation = nullptr;
    }
  }

  void there_is() {
    Clause& c = s_.main;
    c.kind = ClauseKind::there_is;
    do c.subject = common(chance(55) ? w_.kept : w_.findable, true, 30);
    while (c.subject.definite());
    where_it_is(c, c.subject);
    c.tense = chance(62) ? Tense::present : Tense::past;
    c.negative = c.subject.determiner == Determiner::a && chance(30);
    if (!c.negative && chance(25)) s_.question = chance(60) ? Question::yes_no : Question::how_many;
  }

  void joined() {
    Clause &c = s_.main, &d = s_.second;
    s_.joint = chance(60) ? Joint::and_ : Joint::but;
    do c.verb = any(w_.transitive);
    while (s_.joint == Joint::and_ && c.verb->stative);
    c.subject = subject_of(*c.verb);
    c.object = object_of(*c.verb, c.subject, 12);
    const int64_t choice = random_.below(100);
    c.tense = choice < 40 ? Tense::present : choice < 85 || s_.joint == Joint::but ? Tense::past : Tense::future;
    do d.verb = any(w_.transitive);
    while (d.verb == c.verb || (s_.joint == Joint::and_ && d.verb->stative) || !c.subject.noun->is(d.verb->subjects));
    d.subject = c.subject;
    if (s_.joint == Joint::but) do
        d.subject = subject_of(*d.verb);
      while (d.subject.noun == c.subject.noun);
    d.object = object_of(*d.verb, d.subject, 12);
    const bool many =
        c.subject.many() || c.subject.noun->first_person || d.subject.many() || d.subject.noun->first_person;
    settle(c, many);
    d.tense = c.tense;
    settle(d, many);
    c.tense = d.tense;
    d.negative = s_.joint == Joint::but && chance(45);
  }
};

}  // namespace

void draw(Random& random, Sentence& sentence) { Drawer(random, sentence).draw(); }

}  // namespace limpid::grammar
