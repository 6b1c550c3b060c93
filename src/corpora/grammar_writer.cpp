#include "corpora/grammar_writer.h"

#include <array>
#include <bit>

namespace limpid::grammar {
namespace {

const Conjugation& existence(bool negative) {
  static const std::array<Conjugation, 2> kForms = {conjugate("있다", WordClass::kExistence),
                                                    conjugate("없다", WordClass::kExistence)};
  return kForms[negative ? 1 : 0];
}

bool vowel_sound(std::string_view word) {
  return std::string_view("aeiouAEIOU").find(word.front()) != std::string_view::npos;
}

void append(Phrase& out, Phrase&& more) {
  for (Eojeol& eojeol : more) out.push_back(std::move(eojeol));
}

Phrase attach(Phrase&& phrase, Particle particle, uint64_t links = 0) {
  phrase.back().text = with_particle(phrase.back().text, particle);
  phrase.back().english |= links;
  return std::move(phrase);
}

// How the subject makes the English verb agree.
struct Agreement {
  bool third = true;   // he reads
  bool first = false;  // I am
  std::string_view be(bool past) const {
    if (past) return third || first ? "was" : "were";
    return third ? "is" : first ? "am" : "are";
  }
};

Agreement agreement_of(const NounPhrase& subject) {
  const bool i = subject.noun->first_person && !subject.plural && !subject.also;
  return {.third = !i && !subject.many(), .first = i};
}

class Writer {
 public:
  explicit Writer(const Sentence& sentence) : s_(sentence) {}

  SentencePair write() {
    if (s_.main.kind == ClauseKind::kAction)
      s_.joint == Joint::kNone ? action_sentence() : joined_sentence();
    else
      be_sentence(s_.main);
    return finish();
  }

 private:
  // --- English, word by word; each returns the bits of the words it wrote ---

  uint64_t say(std::string_view text) {
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

  uint64_t say_unless_empty(std::string_view text) { return text.empty() ? 0 : say(text); }

  // Several words against several: one to one where their numbers agree, else all to all. An article carries nothing.
  Phrase say_adverb(std::string_view english, std::string_view korean) {
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

  // --- Noun phrases ---

  struct Parts {
    Eojeol determiner, most, adjective, number;
  };

  void say_determiner(const NounPhrase& np, Parts& parts, std::string_view next) {
    switch (np.determiner) {
      case Determiner::kNone: return;
      case Determiner::kThe: say("the"); return;
      case Determiner::kA: say(vowel_sound(next) ? "an" : "a"); return;
      case Determiner::kThis: parts.determiner = {"이", say(np.plural ? "these" : "this")}; return;
      case Determiner::kThat: parts.determiner = {"저", say(np.plural ? "those" : "that")}; return;
      case Determiner::kMy: parts.determiner = {"제", say("my")}; return;
      case Determiner::kOur: parts.determiner = {"우리", say("our")}; return;
      case Determiner::kOwner:
        parts.determiner = {with_particle(np.owner->korean, Particle::kOf), say(np.owner->english + "'s")};
        return;
    }
  }

  void say_adjective(const NounPhrase& np, Parts& parts) {
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

  static std::string korean_noun(const NounPhrase& np) {
    const bool marked = np.plural && np.number < 0 && np.noun->is(kPerson | kAnimal) && !np.noun->is(kPronoun);
    return marked ? np.noun->korean + "들" : np.noun->korean;
  }

  Phrase say_noun_phrase(const NounPhrase& np, bool object_form = false) {
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
      phrase = attach(std::move(phrase), Particle::kAnd, bits);
      append(phrase, say_noun_phrase(*np.also));
    }
    return phrase;
  }

  // --- Verb groups ---

  // What comes before the subject in a question, or after it in a statement.
  std::string_view auxiliary(const Clause& c, Agreement agreement, bool needs_do) const {
    if (c.mode == Mode::kProgressive) return agreement.be(c.tense == Tense::kPast);
    if (c.mode == Mode::kCan) return c.negative ? "cannot" : "can";
    if (c.mode == Mode::kMust) return "must";
    if (c.tense == Tense::kFuture) return "will";
    if (!needs_do) return "";
    return c.tense == Tense::kPast ? "did" : agreement.third ? "does" : "do";
  }

  static std::string_view finite(const Clause& c, Agreement agreement, std::string_view base, std::string_view third,
                                 std::string_view past) {
    return c.tense == Tense::kPast ? past : agreement.third ? third : base;
  }

  // "did not often want to read": after the subject; links.auxiliary is set where it stood before the subject.
  void say_verb_group(const Clause& c, Agreement agreement, VerbLinks& links, bool has_auxiliary, Phrase* frequency) {
    const Verb& verb = *c.verb;
    if (c.negative && c.mode == Mode::kCan)
      links.negation = links.auxiliary;
    else if (c.negative)
      links.negation = say("not");
    if (c.frequency != nullptr) *frequency = say_adverb(c.frequency->english, c.frequency->korean);
    std::string_view form = verb.base;
    if (c.mode == Mode::kProgressive) {
      form = verb.ing;
    } else if (c.mode == Mode::kWant) {
      links.want = say(has_auxiliary ? "want" : finite(c, agreement, "want", "wants", "wanted"));
      links.want |= say("to");
    } else if (!has_auxiliary) {
      form = finite(c, agreement, verb.base, verb.third, verb.past);
    }
    links.verb = say(form);
    // "up" and "for" right after the verb; where the object was moved away they stay.
    links.verb |= say_unless_empty(verb.with);
  }

  void append_verb(Phrase& out, const Clause& c, bool first_person, Ending ending, const VerbLinks& links) const {
    append_verb_group(out, {&c.verb->forms, c.verb->negative, c.verb->adjectival}, c.tense, c.mode, c.negative,
                      first_person, ending, links);
  }

  // --- Relative clauses ---

  void say_relative(const Clause& c, const NounPhrase& head, Phrase& out) {
    const bool person = head.noun->is(kPerson);
    VerbLinks links;
    links.joint = say(!person ? "which" : c.gap == Gap::kObject ? "whom" : "who");
    Phrase subject, object, place, none;
    const Agreement agreement = agreement_of(c.gap == Gap::kSubject ? head : c.subject);
    if (c.gap == Gap::kObject) subject = attach(say_noun_phrase(c.subject), Particle::kSubject);
    if (c.kind == ClauseKind::kIsAt) {
      links.auxiliary = say(agreement.be(c.tense == Tense::kPast));
      append(out, say_place(c, Particle::kAt));
      append_verb_group(out, {&existence(false)}, c.tense, Mode::kPlain, false, false, Ending::kBeforeNoun, links);
      return;
    }
    const std::string_view helper = auxiliary(c, agreement, c.negative);
    links.auxiliary = say_unless_empty(helper);
    say_verb_group(c, agreement, links, !helper.empty(), &none);
    if (c.object) object = attach(say_noun_phrase(c.object, true), c.verb->object_particle);
    if (c.place) place = say_place(c, c.verb->frame == Frame::kLive ? Particle::kAt : Particle::kIn);
    append(out, std::move(subject));
    append(out, std::move(place));
    append(out, std::move(object));
    append_verb(out, c, false, Ending::kBeforeNoun, links);
  }

  // --- Circumstances ---

  // "under the chair" 의자 아래에, "in the box" 상자 안에, "in the park" 공원에서.
  Phrase say_place(const Clause& c, Particle particle) {
    if (c.relation != nullptr || c.place.noun->is(kHolder)) {
      const uint64_t bits = say(c.relation ? c.relation->english : "in");
      Phrase phrase = say_noun_phrase(c.place);
      phrase.push_back({std::string(c.relation ? c.relation->korean : "안에"), bits});
      return phrase;
    }
    const bool moves = c.kind == ClauseKind::kAction && (c.verb->frame == Frame::kTo || c.verb->frame == Frame::kFrom);
    const uint64_t bits = say(!moves                        ? c.place.noun->preposition
                              : c.verb->frame == Frame::kTo ? std::string_view("to")
                                                            : "from");
    return attach(say_noun_phrase(c.place), particle, bits);
  }

  static Particle place_particle(const Clause& c) {
    const bool rests = c.verb->frame == Frame::kTo || c.verb->frame == Frame::kLive;
    return rests ? Particle::kAt : Particle::kIn;
  }

  Phrase say_time(const Clause& c) {
    if (c.hour < 0) return say_adverb(c.time->english, c.time->korean);
    const uint64_t at = say("at");
    const Number& number = words().numbers[c.hour];
    Phrase phrase;
    phrase.push_back({std::string(number.korean), say(number.english)});
    phrase.push_back({"시에", at | say("o'clock")});
    return phrase;
  }

  // The Korean parts of a clause, in the order in which Korean has them.
  struct Order {
    Phrase early, subject, time, question, frequency, companion, means, place, recipient, object, manner;
  };

  void say_objects(const Clause& c, Order& order) {
    const auto say_recipient = [&](bool preposition) {
      const uint64_t bits = preposition ? say("to") : 0;
      order.recipient = attach(say_noun_phrase(c.recipient, true), Particle::kTo, bits);
    };
    if (c.recipient && c.recipient_first) say_recipient(false);
    if (c.object && s_asks_object_ != &c)
      order.object = attach(say_noun_phrase(c.object, true), c.verb->object_particle);
    if (c.recipient && !c.recipient_first) say_recipient(true);
  }

  void say_after_verb(const Clause& c, Order& order) {
    say_objects(c, order);
    const bool goes = c.verb->frame != Frame::kTransitive && c.verb->frame != Frame::kIntransitive;
    if (c.place && goes) order.place = say_place(c, place_particle(c));
    if (c.manner) order.manner = say_adverb(c.manner->english, c.manner->korean);
    if (c.companion) {
      const uint64_t bits = say("with");
      order.companion = attach(say_noun_phrase(c.companion, true), Particle::kAnd, bits);
      order.companion.push_back({"함께", bits});
    }
    if (c.instrument || c.vehicle) {
      const uint64_t bits = say(c.vehicle ? "by" : "with");
      if (c.instrument) say(vowel_sound(c.instrument->english) ? "an" : "a");
      const Noun& noun = c.vehicle ? *c.vehicle : *c.instrument;
      order.means.push_back({with_particle(noun.korean, Particle::kBy), bits | say(noun.english)});
    }
    if (c.place && !goes) order.place = say_place(c, place_particle(c));
    if ((c.time || c.hour >= 0) && !c.time_first) order.time = say_time(c);
  }

  void append_order(Order&& o) {
    for (Phrase* part : {&o.early, &o.subject, &o.time, &o.question, &o.frequency, &o.companion, &o.means, &o.place,
                         &o.recipient, &o.object, &o.manner})
      append(korean_, std::move(*part));
  }

  // --- Sentences ---

  // "What", "How many books" and so on: the first English words of a question, and their Korean.
  void say_question_word(const Clause& c, Order& order) {
    switch (s_.question) {
      case Question::kSubject: order.subject = {{"누가", say("who")}}; return;
      case Question::kObject: {
        const bool person = c.object.noun->is(kPerson);
        order.object = {
            {with_particle(person ? "누구" : "무엇", c.verb->object_particle), say(person ? "who" : "what")}};
        if (c.verb->object_particle == Particle::kSubject && !person) order.object.front().text = "무엇이";
        return;
      }
      case Question::kWhere: order.place = {{with_particle("어디", place_particle(c)), say("where")}}; return;
      case Question::kWhen: order.question = {{"언제", say("when")}}; return;
      case Question::kWhy: order.question = {{"왜", say("why")}}; return;
      case Question::kHowMany: say_how_many(c.object, c.verb->object_particle, order.object); return;
      default: return;
    }
  }

  void say_how_many(const NounPhrase& np, Particle particle, Phrase& out) {
    const uint64_t bits = say("how many");
    Parts parts;
    if (np.adjective != nullptr) out.push_back({np.adjective->before_noun, say(np.adjective->english)});
    out.push_back({with_particle(np.noun->korean, particle), say(np.noun->plural)});
    out.push_back({"몇", bits});
    out.push_back({std::string(counter_text(np.noun->counter)), bits});
  }

  static Particle subject_particle(const NounPhrase& np) {
    return np.definite() ? Particle::kTopic : Particle::kSubject;
  }

  void action_sentence() {
    const Clause& c = s_.main;
    Order order;
    VerbLinks links;
    if (c.time && c.time_first) order.early = say_time(c);
    const bool asks_subject = s_.question == Question::kSubject;
    if (s_.question == Question::kObject || s_.question == Question::kHowMany) s_asks_object_ = &c;
    say_question_word(c, order);
    const bool inverted = s_.question != Question::kNone && !asks_subject;
    const Agreement agreement = asks_subject ? Agreement{} : agreement_of(c.subject);
    const std::string_view helper = auxiliary(c, agreement, inverted || c.negative);
    if (inverted) links.auxiliary = say(helper);
    if (!asks_subject) order.subject = attach(say_noun_phrase(c.subject), subject_particle(c.subject));
    if (!inverted) links.auxiliary = say_unless_empty(helper);
    say_verb_group(c, agreement, links, !helper.empty(), &order.frequency);
    say_after_verb(c, order);
    append_order(std::move(order));
    append_verb(korean_, c, !asks_subject && c.subject.noun->first_person, Ending::kPolite, links);
  }

  // "S reads the book and drinks coffee", "S reads the book, but T does not drink coffee".
  void joined_sentence() {
    const bool but = s_.joint == Joint::kBut;
    uint64_t future = 0;
    for (const Clause* c : {&s_.main, &s_.second}) {
      const bool first = c == &s_.main;
      Order order;
      VerbLinks links;
      if (first || but) order.subject = attach(say_noun_phrase(c->subject), subject_particle(c->subject));
      const Agreement agreement = agreement_of(c->subject);
      const std::string_view helper = auxiliary(*c, agreement, c->negative);
      links.auxiliary = first || but ? say_unless_empty(helper) : future;
      future = links.auxiliary;
      say_verb_group(*c, agreement, links, !helper.empty(), &order.frequency);
      say_objects(*c, order);
      append_order(std::move(order));
      if (first && but) english_ += ',';
      if (first) links.joint = say(but ? "but" : "and");
      append_verb(korean_, *c, c->subject.noun->first_person,
                  !first ? Ending::kPolite
                  : but  ? Ending::kBut
                         : Ending::kAnd,
                  links);
    }
  }

  // is, was, will be: before the subject in a question.
  uint64_t say_be(const Clause& c, Agreement agreement) {
    return say(c.tense == Tense::kFuture ? "will" : agreement.be(c.tense == Tense::kPast));
  }

  void be_sentence(const Clause& c) {
    if (c.kind == ClauseKind::kThereIs) return there_is_sentence(c);
    VerbLinks links;
    Phrase where;
    if (s_.question == Question::kWhere) where = {{"어디에", say("where")}};
    const Agreement agreement = agreement_of(c.subject);
    if (s_.question != Question::kNone) links.auxiliary = say_be(c, agreement);
    append(korean_, attach(say_noun_phrase(c.subject), subject_particle(c.subject)));
    if (s_.question == Question::kNone) links.auxiliary = say_be(c, agreement);
    if (c.negative) links.negation = say("not");
    if (c.tense == Tense::kFuture) links.verb = say("be");
    append(korean_, std::move(where));
    switch (c.kind) {
      case ClauseKind::kIsNoun: is_noun(c, links); return;
      case ClauseKind::kCompare: is_more(c, links); return;
      case ClauseKind::kIsAdjective:
        if (c.very) korean_.push_back({"아주", say("very")});
        links.verb |= say(c.adjective->english);
        append_verb_group(korean_, {&c.adjective->forms, nullptr, true}, c.tense, Mode::kPlain, c.negative, false,
                          Ending::kPolite, links);
        return;
      default:
        if (c.place) append(korean_, say_place(c, Particle::kAt));
        append_verb_group(korean_, {&existence(false), &existence(true)}, c.tense, Mode::kPlain, c.negative, false,
                          Ending::kPolite, links);
    }
  }

  void is_noun(const Clause& c, const VerbLinks& links) {
    const bool past = c.tense == Tense::kPast;
    Phrase what = say_noun_phrase(c.object);
    if (!c.negative) {
      append(korean_, attach(std::move(what), past ? Particle::kWas : Particle::kIs, links.auxiliary));
      return;
    }
    append(korean_, attach(std::move(what), Particle::kSubject));
    korean_.push_back({past ? "아니었어요" : "아니에요", links.auxiliary | links.negation});
  }

  void is_more(const Clause& c, VerbLinks& links) {
    const uint64_t more = say(c.adjective->comparative);
    links.verb |= c.adjective->comparative == "more" ? say(c.adjective->english) : more;
    const uint64_t than = say("than");
    append(korean_, attach(say_noun_phrase(c.object), Particle::kThan, than));
    korean_.push_back({"더", more});
    append_verb_group(korean_, {&c.adjective->forms, nullptr, true}, c.tense, Mode::kPlain, false, false,
                      Ending::kPolite, links);
  }

  void there_is_sentence(const Clause& c) {
    VerbLinks links;
    Phrase what;
    const bool how_many = s_.question == Question::kHowMany;
    const Agreement agreement = how_many ? Agreement{.third = false} : agreement_of(c.subject);
    if (how_many) say_how_many(c.subject, Particle::kSubject, what);
    const std::string_view be = agreement.be(c.tense == Tense::kPast);
    if (s_.question == Question::kNone) say("there");
    links.auxiliary = say(be);
    if (s_.question != Question::kNone) say("there");
    NounPhrase subject = c.subject;
    if (c.negative) {
      links.negation = say("no");
      subject.determiner = Determiner::kNone;
    }
    if (!how_many) what = attach(say_noun_phrase(subject), Particle::kSubject);
    append(korean_, say_place(c, Particle::kAt));
    append(korean_, std::move(what));
    append_verb_group(korean_, {&existence(false), &existence(true)}, c.tense, Mode::kPlain, c.negative, false,
                      Ending::kPolite, links);
  }

  SentencePair finish() {
    const char mark = s_.question == Question::kNone ? '.' : '?';
    SentencePair pair;
    if (english_[0] >= 'a' && english_[0] <= 'z') english_[0] = static_cast<char>(english_[0] - 'a' + 'A');
    english_ += mark;
    pair.english = std::move(english_);
    for (const Eojeol& eojeol : korean_) {
      if (!pair.korean.empty()) pair.korean += ' ';
      pair.korean += eojeol.text;
    }
    pair.korean += mark;
    pair.alignment.reserve(korean_.size() + 4);
    for (int word = 0; word < count_; ++word)
      for (size_t i = 0; i < korean_.size(); ++i)
        if ((korean_[i].english >> word) & 1) pair.alignment.emplace_back(word, static_cast<int>(i));
    return pair;
  }

  const Sentence& s_;
  const Clause* s_asks_object_ = nullptr;  // the clause whose object the question word stands for
  std::string english_;
  int count_ = 0;
  Phrase korean_;
};

}  // namespace

SentencePair write(const Sentence& sentence) { return Writer(sentence).write(); }

}  // namespace limpid::grammar
