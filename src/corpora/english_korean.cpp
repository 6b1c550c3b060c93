#include "corpora/english_korean.h"

#include <array>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "corpora/grammar_sentence.h"
#include "corpora/grammar_writer.h"

namespace limpid {
namespace {

using namespace grammar;

// FNV-1a, then mixed: the low bits decide the split.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return mix(hash);
}

struct Withheld {
  std::string_view name, description;
};
constexpr std::array<Withheld, kWithheldKinds> kWithheld = {{
    {"past-negation", "verbs never negated in the past (did not buy)"},
    {"relative-head", "nouns that never have a relative clause (the nurse who …)"},
    {"number-counter", "numbers never said with a counter (네 권)"},
    {"adjective-negation", "adjectives never negated in the past (was not heavy)"},
    {"can", "verbs never said with can"},
}};

bool member(std::string_view word, uint64_t of, uint64_t salt) { return (hash_of(word) ^ mix(salt)) % of == 1; }

uint32_t withheld_in(const NounPhrase& np) {
  if (!np) return 0;
  uint32_t bits = 0;
  if (np.relative != nullptr && withheld_relative(*np.noun)) bits |= 2;
  if (np.number >= 0 && withheld_number(np.number, np.noun->counter)) bits |= 4;
  return bits;
}

uint32_t withheld_in(const Clause& c) {
  uint32_t bits = 0;
  for (const NounPhrase* np : {&c.subject, &c.object, &c.recipient, &c.place, &c.companion}) bits |= withheld_in(*np);
  const bool denied = c.kind == ClauseKind::is_adjective && c.negative && c.tense == Tense::past;
  if (denied && withheld_adjective_negation(*c.adjective)) bits |= 8;
  if (c.kind != ClauseKind::action || c.verb == nullptr) return bits;
  const bool past_negation = c.negative && c.tense == Tense::past && c.mode == Mode::plain;
  if (past_negation && withheld_past_negation(*c.verb)) bits |= 1;
  if (c.mode == Mode::can && withheld_can(*c.verb)) bits |= 16;
  return bits;
}

}  // namespace

namespace grammar {

bool withheld_past_negation(const Verb& verb) { return member(verb.base, 6, 1); }
bool withheld_can(const Verb& verb) { return member(verb.base, 6, 2); }
bool withheld_relative(const Noun& noun) { return member(noun.english, 8, 3); }
bool withheld_number(int number, Counter counter) { return (number * 3 + static_cast<int>(counter)) % 13 == 1; }
bool withheld_adjective_negation(const Adjective& adjective) { return member(adjective.english, 3, 4); }

uint32_t withheld(const Sentence& s) {
  return withheld_in(s.main) | withheld_in(s.second) | withheld_in(s.relative) | withheld_in(s.also);
}

}  // namespace grammar

SentencePair EnglishKorean::pair(uint64_t index, Split split) const {
  Random random(random_key(seed_, index, static_cast<uint64_t>(split)));
  const bool compositional = split == Split::compositional;
  for (;;) {  // drawn again until it belongs to the split: about once for training, twenty times for a held-out part
    Sentence sentence;
    draw(random, sentence);
    const uint32_t bits = withheld(sentence);
    if ((bits != 0) != compositional) continue;
    SentencePair result = write(sentence);
    if (!compositional && split_of(result.english) != split) continue;
    result.withheld = bits;
    return result;
  }
}

Split split_of(std::string_view english) {
  const uint64_t part = hash_of(english) % 1000;
  return part < 50 ? Split::test : part < 100 ? Split::valid : Split::train;
}

std::string_view withheld_name(int kind) {
  check(kind >= 0 && kind < kWithheldKinds, "[english-korean] no kind {}: there are {}", kind, kWithheldKinds);
  return kWithheld[kind].name;
}

std::string_view withheld_description(int kind) {
  check(kind >= 0 && kind < kWithheldKinds, "[english-korean] no kind {}: there are {}", kind, kWithheldKinds);
  return kWithheld[kind].description;
}

std::vector<std::string> withheld_words(int kind) {
  const Words& w = words();
  std::set<std::string> names;
  for (const Verb& verb : w.verbs)
    if ((kind == 0 && withheld_past_negation(verb)) || (kind == 4 && withheld_can(verb) && !verb.stative))
      names.insert(verb.base);
  for (const Noun& noun : w.nouns)
    if (kind == 1 && withheld_relative(noun) && !noun.is(kName | kPronoun | kMass)) names.insert(noun.english);
  for (const Adjective& adjective : w.adjectives)
    if (kind == 3 && adjective.alone && withheld_adjective_negation(adjective)) names.insert(adjective.english);
  for (const Noun& noun : w.nouns)
    for (int n = 0; kind == 2 && n < static_cast<int>(w.numbers.size()); ++n)
      if (withheld_number(n, noun.counter))
        names.insert(fmt::format("{} {}", w.numbers[n].english, counter_text(noun.counter)));
  return {names.begin(), names.end()};
}

int64_t english_korean_lemmas() {
  const Words& w = words();
  std::set<std::string_view> nouns, verbs, rest;
  for (const Noun& noun : w.nouns)
    if (!noun.is(kName | kPronoun)) nouns.insert(noun.english);
  for (const Verb& verb : w.verbs) verbs.insert(verb.base);
  for (const Adjective& adjective : w.adjectives) rest.insert(adjective.english);
  for (const auto* list : {&w.times, &w.frequencies, &w.manners})
    for (const Adverb& adverb : *list) rest.insert(adverb.english);
  for (const Number& number : w.numbers) rest.insert(number.english);
  return static_cast<int64_t>(nouns.size() + verbs.size() + rest.size());
}

double english_korean_plain_statements() {
  const Words& w = words();
  constexpr double kTenses = 3, kPolarities = 2;
  const auto phrases = [](const Noun& noun) {
    const double adjectives = 1 + static_cast<double>(noun.adjectives.size());
    const double determiners = owned(noun) ? 6 : 4;  // the, a, this, that; my, our
    return noun.is(kMass | kName | kPronoun) ? 0.0 : determiners * adjectives;
  };
  double count = 0;
  std::set<std::pair<std::string_view, const Noun*>>
      seen;  // rows of the same English verb share no object, but be sure
  for (const Verb* verb : w.transitive) {
    double subjects = 0;
    for (const Noun* noun : verb->subject_nouns) subjects += phrases(*noun);
    for (const Noun* noun : verb->object_nouns) {
      const bool same = noun->is(verb->subjects);  // nobody does it to a namesake
      const double allowed = subjects - (same ? phrases(*noun) : 0);
      if (seen.emplace(verb->base, noun).second) count += allowed * phrases(*noun) * kTenses * kPolarities;
    }
  }
  return count;
}

}  // namespace limpid
