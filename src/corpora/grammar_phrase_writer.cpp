#include "corpora/grammar_phrase_writer.h"

#include <array>
#include <bit>

namespace limpid::grammar {

const Conjugation& existence(bool negative) {
  static const std::array<Conjugation, 2> kForms = {conjugate("있다", WordClass::existence),
                                                    conjugate("없다", WordClass::existence)};
  return kForms[negative ? 1 : 0];
}

bool vowel_sound(std::string_view word) {
  if (word == "honest") return true;
  return std::string_view("aeiouAEIOU").find(word.front()) != std::string_view::npos;
}

void append(Phrase& out, Phrase&& more) {
  for (Eojeol& eojeol : more) out.push_back(std::move(eojeol));
}

Phrase attach(Phrase&& phrase, Particle particle, uint64_t links) {
  phrase.back().text = with_particle(phrase.back().text, particle);
  phrase.back().english |= links;
  return std::move(phrase);
}

Agreement agreement_of(const NounPhrase& subject) {
  const bool i = subject.noun->first_person && !subject.plural && !subject.also;
  return {.third = !i && !subject.many(), .first = i};
}

uint64_t PhraseWriter::say(std::string_view text) {
  uint64_t bits = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (count_ > 0) english_ += ' ';
    english_.append(text, begin, end - begin);
    bits |= uint64_t{1} << count_++;
    begin = end + 1;
  }
  return bits;
}

Phrase PhraseWriter::say_adverb(std::string_view english, std::string_view korean) {
  const int first = count_;
  uint64_t bits = say(english);
  const size_t article = english.find(" the ");
  if (article != std::string_view::npos) bits &= ~(uint64_t{1} << (first + 1));
  Phrase phrase;
  for (size_t begin = 0; begin < korean.size();) {
    const size_t end = std::min(korean.find(' ', begin), korean.size());
    phrase.push_back({std::string(korean.substr(begin, end - begin)), bits});
    begin = end + 1;
  }
  if (static_cast<int>(phrase.size()) == std::popcount(bits))
    for (size_t i = 0; i < phrase.size(); ++i) phrase[i].english = uint64_t{1} << (first + static_cast<int>(i));
  return phrase;
}

void PhraseWriter::say_determiner(const NounPhrase& np, Parts& parts, std::string_view next) {
  switch (np.determiner) {
    case Determiner::none: return;
    case Determiner::the: say("the"); return;
    case Determiner::a: say(vowel_sound(next) ? "an" : "a"); return;
    case Determiner::this_: parts.determiner = {"이", say(np.plural ? "these" : "this")}; return;
    case Determiner::that: parts.determiner = {"저", say(np.plural ? "those" : "that")}; return;
    case Determiner::my: parts.determiner = {"제", say("my")}; return;
    case Determiner::our: parts.determiner = {"우리", say("our")}; return;
    case Determiner::owner:
      parts.determiner = {with_particle(np.owner->korean, Particle::of), say(np.owner->english + "'s")};
      return;
  }
}

void PhraseWriter::say_adjective(const NounPhrase& np, Parts& parts) {
  if (np.adjective == nullptr) return;
  const Adjective& adjective = *np.adjective;
  if (!np.superlative) {
    parts.adjective = {adjective.before_noun, say(adjective.english)};
  } else if (adjective.superlative == "most") {
    parts.most = {"가장", say("most")};
    parts.adjective = {adjective.before_noun, say(adjective.english)};
  } else {
    parts.most = {"가장", say(adjective.superlative)};
    parts.adjective = {adjective.before_noun, parts.most.english};
  }
}

std::string PhraseWriter::korean_noun(const NounPhrase& np) {
  const bool marked = np.plural && np.number < 0 && np.noun->is(kPerson | kAnimal) && !np.noun->is(kPronoun);
  return marked ? np.noun->korean + "들" : np.noun->korean;
}

Phrase PhraseWriter::say_noun_phrase(const NounPhrase& np, bool object_form) {
  Phrase phrase;
  if (np.noun->is(kPronoun)) {
    phrase.push_back({np.noun->korean, say(object_form ? np.noun->object_form : np.noun->english)});
    return phrase;
  }
  Parts parts;
  const std::string& noun = np.plural && !np.cups ? np.noun->plural : np.noun->english;
  say_determiner(np, parts, np.adjective ? std::string_view(np.adjective->english) : std::string_view(noun));
  uint64_t counter_bits = 0;
  if (np.number >= 0) {
    const Number& number = words().numbers[np.number];
    parts.number = {std::string(number.korean), say(number.english)};
    counter_bits = parts.number.english;
  }
  if (np.cups) counter_bits = say(np.plural ? "cups of" : "cup of");
  say_adjective(np, parts);
  Eojeol head = {korean_noun(np), say(noun)};
  if (np.relative != nullptr) say_relative(*np.relative, np, phrase);
  for (Eojeol* part : {&parts.determiner, &parts.most, &parts.adjective, &head, &parts.number})
    if (!part->text.empty()) phrase.push_back(std::move(*part));
  if (np.number >= 0) phrase.push_back({std::string(counter_text(np.noun->counter)), counter_bits});
  if (np.also != nullptr) {
    const uint64_t bits = say("and");
    phrase = attach(std::move(phrase), Particle::and_, bits);
    append(phrase, say_noun_phrase(*np.also));
  }
  return phrase;
}

std::string_view PhraseWriter::auxiliary(const Clause& c, Agreement agreement, bool needs_do) const {
  if (c.mode == Mode::progressive) return agreement.be(c.tense == Tense::past);
  if (c.mode == Mode::can) return c.negative ? "cannot" : "can";
  if (c.mode == Mode::must) return "must";
  if (c.tense == Tense::future) return "will";
  if (!needs_do) return "";
  return c.tense == Tense::past ? "did" : agreement.third ? "does" : "do";
}

std::string_view PhraseWriter::finite(const Clause& c, Agreement agreement, std::string_view base,
                                      std::string_view third, std::string_view past) {
  return c.tense == Tense::past ? past : agreement.third ? third : base;
}

void PhraseWriter::say_verb_group(const Clause& c, Agreement agreement, VerbLinks& links, bool has_auxiliary,
                                  Phrase* frequency) {
  const Verb& verb = *c.verb;
  if (c.negative && c.mode == Mode::can)
    links.negation = links.auxiliary;
  else if (c.negative)
    links.negation = say("not");
  if (c.frequency != nullptr) *frequency = say_adverb(c.frequency->english, c.frequency->korean);
  std::string_view form = verb.base;
  if (c.mode == Mode::progressive) {
    form = verb.ing;
  } else if (c.mode == Mode::want) {
    links.want = say(has_auxiliary ? "want" : finite(c, agreement, "want", "wants", "wanted"));
    links.want |= say("to");
  } else if (!has_auxiliary) {
    form = finite(c, agreement, verb.base, verb.third, verb.past);
  }
  links.verb = say(form);
  // "up" and "for" right after the verb; where the object was moved away they stay.
  links.verb |= say_unless_empty(verb.with);
}

void PhraseWriter::append_verb(Phrase& out, const Clause& c, bool first_person, Ending ending,
                               const VerbLinks& links) const {
  append_verb_group(out, {&c.verb->forms, c.verb->negative, c.verb->adjectival}, c.tense, c.mode, c.negative,
                    first_person, ending, links);
}

void PhraseWriter::say_relative(const Clause& c, const NounPhrase& head, Phrase& out) {
  const bool person = head.noun->is(kPerson);
  VerbLinks links;
  links.joint = say(!person ? "which" : c.gap == Gap::object ? "whom" : "who");
  Phrase subject, object, place, none;
  const Agreement agreement = agreement_of(c.gap == Gap::subject ? head : c.subject);
  if (c.gap == Gap::object) subject = attach(say_noun_phrase(c.subject), Particle::subject);
  if (c.kind == ClauseKind::is_at) {
    links.auxiliary = say(agreement.be(c.tense == Tense::past));
    append(out, say_place(c, Particle::at));
    append_verb_group(out, {&existence(false)}, c.tense, Mode::plain, false, false, Ending::before_noun, links);
    return;
  }
  const std::string_view helper = auxiliary(c, agreement, c.negative);
  links.auxiliary = say_unless_empty(helper);
  say_verb_group(c, agreement, links, !helper.empty(), &none);
  if (c.object) object = attach(say_noun_phrase(c.object, true), c.verb->object_particle);
  if (c.place) place = say_place(c, c.verb->frame == Frame::live ? Particle::at : Particle::in);
  append(out, std::move(subject));
  append(out, std::move(place));
  append(out, std::move(object));
  append_verb(out, c, false, Ending::before_noun, links);
}

Phrase PhraseWriter::say_place(const Clause& c, Particle particle) {
  if (c.relation != nullptr || c.place.noun->is(kHolder)) {
    const uint64_t bits = say(c.relation ? c.relation->english : "in");
    Phrase phrase = say_noun_phrase(c.place);
    phrase.push_back({std::string(c.relation ? c.relation->korean : "안에"), bits});
    return phrase;
  }
  const bool moves = c.kind == ClauseKind::action && (c.verb->frame == Frame::to || c.verb->frame == Frame::from);
  const uint64_t bits = say(!moves                       ? c.place.noun->preposition
                            : c.verb->frame == Frame::to ? std::string_view("to")
                                                         : "from");
  return attach(say_noun_phrase(c.place), particle, bits);
}

Particle PhraseWriter::place_particle(const Clause& c) {
  const bool rests = c.verb->frame == Frame::to || c.verb->frame == Frame::live;
  return rests ? Particle::at : Particle::in;
}

Phrase PhraseWriter::say_time(const Clause& c) {
  if (c.hour < 0) return say_adverb(c.time->english, c.time->korean);
  const uint64_t at = say("at");
  const Number& number = words().numbers[c.hour];
  Phrase phrase;
  phrase.push_back({std::string(number.korean), say(number.english)});
  phrase.push_back({"시에", at | say("o'clock")});
  return phrase;
}

}  // namespace limpid::grammar
