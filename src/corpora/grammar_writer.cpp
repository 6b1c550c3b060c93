#include "corpora/grammar_writer.h"

#include "corpora/grammar_phrase_writer.h"

namespace limpid::grammar {
namespace {

class Writer : PhraseWriter {
 public:
  explicit Writer(const Sentence& sentence) : s_(sentence) {}

  SentencePair write() {
    if (s_.main.kind == ClauseKind::action)
      s_.joint == Joint::none ? action_sentence() : joined_sentence();
    else
      be_sentence(s_.main);
    return finish();
  }

 private:
  // The Korean parts of a clause, in the order in which Korean has them.
  struct Order {
    Phrase early, subject, time, question, frequency, companion, means, place, recipient, object, manner;
  };

  void say_objects(const Clause& c, Order& order) {
    const auto say_recipient = [&](bool preposition) {
      const uint64_t bits = preposition ? say("to") : 0;
      order.recipient = attach(say_noun_phrase(c.recipient, true), Particle::to, bits);
    };
    if (c.recipient && c.recipient_first) say_recipient(false);
    if (c.object && s_asks_object_ != &c)
      order.object = attach(say_noun_phrase(c.object, true), c.verb->object_particle);
    if (c.recipient && !c.recipient_first) say_recipient(true);
  }

  void say_after_verb(const Clause& c, Order& order) {
    say_objects(c, order);
    const bool goes = c.verb->frame != Frame::transitive && c.verb->frame != Frame::intransitive;
    if (c.place && goes) order.place = say_place(c, place_particle(c));
    if (c.manner) order.manner = say_adverb(c.manner->english, c.manner->korean);
    if (c.companion) {
      const uint64_t bits = say("with");
      order.companion = attach(say_noun_phrase(c.companion, true), Particle::and_, bits);
      order.companion.push_back({"함께", bits});
    }
    if (c.instrument || c.vehicle) {
      const uint64_t bits = say(c.vehicle ? "by" : "with");
      if (c.instrument) say(vowel_sound(c.instrument->english) ? "an" : "a");
      const Noun& noun = c.vehicle ? *c.vehicle : *c.instrument;
      order.means.push_back({with_particle(noun.korean, Particle::by), bits | say(noun.english)});
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
      case Question::subject: order.subject = {{"누가", say("who")}}; return;
      case Question::object: {
        const bool person = c.object.noun->is(kPerson);
        order.object = {
            {with_particle(person ? "누구" : "무엇", c.verb->object_particle), say(person ? "who" : "what")}};
        if (c.verb->object_particle == Particle::subject && !person) order.object.front().text = "무엇이";
        return;
      }
      case Question::where: order.place = {{with_particle("어디", place_particle(c)), say("where")}}; return;
      case Question::when: order.question = {{"언제", say("when")}}; return;
      case Question::why: order.question = {{"왜", say("why")}}; return;
      case Question::how_many: say_how_many(c.object, c.verb->object_particle, order.object); return;
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

  static Particle subject_particle(const NounPhrase& np) { return np.definite() ? Particle::topic : Particle::subject; }

  void action_sentence() {
    const Clause& c = s_.main;
    Order order;
    VerbLinks links;
    if (c.time && c.time_first) order.early = say_time(c);
    const bool asks_subject = s_.question == Question::subject;
    if (s_.question == Question::object || s_.question == Question::how_many) s_asks_object_ = &c;
    say_question_word(c, order);
    const bool inverted = s_.question != Question::none && !asks_subject;
    const Agreement agreement = asks_subject ? Agreement{} : agreement_of(c.subject);
    const std::string_view helper = auxiliary(c, agreement, inverted || c.negative);
    if (inverted) links.auxiliary = say(helper);
    if (!asks_subject) order.subject = attach(say_noun_phrase(c.subject), subject_particle(c.subject));
    if (!inverted) links.auxiliary = say_unless_empty(helper);
    say_verb_group(c, agreement, links, !helper.empty(), &order.frequency);
    say_after_verb(c, order);
    append_order(std::move(order));
    append_verb(korean_, c, !asks_subject && c.subject.noun->first_person, Ending::polite, links);
  }

  // "S reads the book and drinks coffee", "S reads the book, but T does not drink coffee".
  void joined_sentence() {
    const bool but = s_.joint == Joint::but;
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
                  !first ? Ending::polite
                  : but  ? Ending::but
                         : Ending::and_,
                  links);
    }
  }

  // is, was, will be: before the subject in a question.
  uint64_t say_be(const Clause& c, Agreement agreement) {
    return say(c.tense == Tense::future ? "will" : agreement.be(c.tense == Tense::past));
  }

  void be_sentence(const Clause& c) {
    if (c.kind == ClauseKind::there_is) return there_is_sentence(c);
    VerbLinks links;
    Phrase where;
    if (s_.question == Question::where) where = {{"어디에", say("where")}};
    const Agreement agreement = agreement_of(c.subject);
    if (s_.question != Question::none) links.auxiliary = say_be(c, agreement);
    append(korean_, attach(say_noun_phrase(c.subject), subject_particle(c.subject)));
    if (s_.question == Question::none) links.auxiliary = say_be(c, agreement);
    if (c.negative) links.negation = say("not");
    if (c.tense == Tense::future) links.verb = say("be");
    append(korean_, std::move(where));
    switch (c.kind) {
      case ClauseKind::is_noun: is_noun(c, links); return;
      case ClauseKind::compare: is_more(c, links); return;
      case ClauseKind::is_adjective:
        if (c.very) korean_.push_back({"아주", say("very")});
        links.verb |= say(c.adjective->english);
        append_verb_group(korean_, {&c.adjective->forms, nullptr, true}, c.tense, Mode::plain, c.negative, false,
                          Ending::polite, links);
        return;
      default:
        if (c.place) append(korean_, say_place(c, Particle::at));
        append_verb_group(korean_, {&existence(false), &existence(true)}, c.tense, Mode::plain, c.negative, false,
                          Ending::polite, links);
    }
  }

  void is_noun(const Clause& c, const VerbLinks& links) {
    const bool past = c.tense == Tense::past;
    Phrase what = say_noun_phrase(c.object);
    if (!c.negative) {
      append(korean_, attach(std::move(what), past ? Particle::was : Particle::is, links.auxiliary));
      return;
    }
    append(korean_, attach(std::move(what), Particle::subject));
    korean_.push_back({past ? "아니었어요" : "아니에요", links.auxiliary | links.negation});
  }

  void is_more(const Clause& c, VerbLinks& links) {
    const uint64_t more = say(c.adjective->comparative);
    links.verb |= c.adjective->comparative == "more" ? say(c.adjective->english) : more;
    const uint64_t than = say("than");
    append(korean_, attach(say_noun_phrase(c.object), Particle::than, than));
    korean_.push_back({"더", more});
    append_verb_group(korean_, {&c.adjective->forms, nullptr, true}, c.tense, Mode::plain, false, false, Ending::polite,
                      links);
  }

  void there_is_sentence(const Clause& c) {
    VerbLinks links;
    Phrase what;
    const bool how_many = s_.question == Question::how_many;
    const Agreement agreement = how_many ? Agreement{.third = false} : agreement_of(c.subject);
    if (how_many) say_how_many(c.subject, Particle::subject, what);
    const std::string_view be = agreement.be(c.tense == Tense::past);
    if (s_.question == Question::none) say("there");
    links.auxiliary = say(be);
    if (s_.question != Question::none) say("there");
    NounPhrase subject = c.subject;
    if (c.negative) {
      links.negation = say("no");
      subject.determiner = Determiner::none;
    }
    if (!how_many) what = attach(say_noun_phrase(subject), Particle::subject);
    append(korean_, say_place(c, Particle::at));
    append(korean_, std::move(what));
    append_verb_group(korean_, {&existence(false), &existence(true)}, c.tense, Mode::plain, c.negative, false,
                      Ending::polite, links);
  }

  SentencePair finish() {
    const char mark = s_.question == Question::none ? '.' : '?';
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
  Phrase korean_;
};

}  // namespace

SentencePair write(const Sentence& sentence) { return Writer(sentence).write(); }

}  // namespace limpid::grammar
