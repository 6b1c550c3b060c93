// The Korean verb group: modes and negation are chains of auxiliaries, the last of which takes tense and ending.

#include "corpora/grammar_writer.h"

namespace limpid::grammar {
namespace {

struct Auxiliaries {
  Conjugation exist = conjugate("있다", WordClass::existence);
  Conjugation lack = conjugate("없다", WordClass::existence);
  Conjugation wish = conjugate("싶다", WordClass::adjective);
  Conjugation act = conjugate("하다", WordClass::verb);
  Conjugation not_act = conjugate("않다", WordClass::verb);
  Conjugation not_be = conjugate("않다", WordClass::adjective);
};

const Auxiliaries& auxiliaries() {
  static const Auxiliaries kAuxiliaries;
  return kAuxiliaries;
}

struct Head {
  const Conjugation* forms;
  uint64_t links;
  bool adjectival;
};

// Leaves the verb behind its mode's auxiliary: 읽 -> 읽고 있-, 읽을 수 있-, 읽고 싶-, 읽어야 하-.
Head append_mode(Phrase& out, Head head, Mode mode, bool negative, bool first_person, const VerbLinks& links) {
  const Auxiliaries& a = auxiliaries();
  switch (mode) {
    case Mode::plain: break;
    case Mode::progressive:
      out.push_back({head.forms->stem + "고", head.links});
      return {&a.exist, links.auxiliary, false};
    case Mode::can:
      out.push_back({head.forms->prospective, head.links});
      out.push_back({"수", links.auxiliary});
      return {negative ? &a.lack : &a.exist, links.auxiliary | links.negation, false};
    case Mode::want:
      out.push_back({head.forms->stem + "고", head.links});
      if (first_person) return {&a.wish, links.want, true};
      out.push_back({"싶어", links.want});  // of others one says that they show the wish
      return {&a.act, links.want, false};
    case Mode::must:
      out.push_back({head.forms->infinitive + "야", head.links});
      return {&a.act, links.auxiliary, false};
  }
  return head;
}

void append_ending(Phrase& out, const Head& head, Tense tense, Ending ending, const VerbLinks& links) {
  const Conjugation& forms = *head.forms;
  const bool past = tense == Tense::past;
  switch (ending) {
    case Ending::polite:
      if (tense == Tense::future) {
        out.push_back({forms.prospective, head.links});
        out.push_back({"거예요", links.auxiliary});
      } else {
        out.push_back({past ? forms.past + "어요" : forms.infinitive + "요", head.links});
      }
      return;
    case Ending::and_: out.push_back({forms.stem + "고", head.links | links.joint}); return;  // tense comes last
    case Ending::but: out.push_back({(past ? forms.past : forms.stem) + "지만", head.links | links.joint}); return;
    case Ending::before_noun:
      out.push_back({past                     ? forms.past_of
                     : tense == Tense::future ? forms.prospective
                                              : forms.present_of,
                     head.links | links.joint | (tense == Tense::future ? links.auxiliary : 0)});
      return;
  }
}

}  // namespace

void append_verb_group(Phrase& out, KoreanVerb verb, Tense tense, Mode mode, bool negative, bool first_person,
                       Ending ending, const VerbLinks& links) {
  Head head = append_mode(out, {verb.forms, links.verb, verb.adjectival}, mode, negative, first_person, links);
  const bool future = tense == Tense::future;  // its auxiliary is 거예요, not the verb
  if (negative && mode != Mode::can) {
    if (mode == Mode::plain && verb.negative != nullptr) {
      head.forms = verb.negative;
      head.links |= links.negation;
    } else {
      out.push_back({head.forms->stem + "지", head.links});
      head.forms = head.adjectival ? &auxiliaries().not_be : &auxiliaries().not_act;
      head.links = links.negation;
    }
  }
  if (!future) head.links |= links.auxiliary;
  append_ending(out, head, tense, ending, links);
}

}  // namespace limpid::grammar
