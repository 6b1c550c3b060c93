#pragma once
// The words of the English-Korean grammar: what they are in both languages, how they inflect and what they go with.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "corpora/hangul.h"

namespace limpid::grammar {

// What a noun is, or what can be done with it: verbs and adjectives name the kinds they go with.
using Kinds = uint64_t;
enum Kind : Kinds {
  kPerson = 1ull << 0,
  kAnimal = 1ull << 1,
  kFood = 1ull << 2,
  kDrink = 1ull << 3,
  kText = 1ull << 4,
  kWritten = 1ull << 5,  // what somebody can be writing
  kShow = 1ull << 6,
  kSound = 1ull << 7,
  kClothes = 1ull << 8,      // worn, 입다
  kHeadwear = 1ull << 9,     // worn, 쓰다
  kRing = 1ull << 10,        // worn, 끼다
  kStruck = 1ull << 11,      // played, 치다
  kBowed = 1ull << 12,       // played, 켜다
  kBlown = 1ull << 13,       // played, 불다
  kBallGame = 1ull << 14,    // played, 하다
  kRacketGame = 1ull << 15,  // played, 치다
  kStudy = 1ull << 16,
  kTransit = 1ull << 17,
  kCycle = 1ull << 18,
  kCar = 1ull << 19,
  kOpened = 1ull << 20,
  kCleaned = 1ull << 21,
  kWashed = 1ull << 22,
  kBroken = 1ull << 23,
  kBaked = 1ull << 24,
  kBoiled = 1ull << 25,
  kCutUp = 1ull << 26,
  kGoods = 1ull << 27,  // bought and sold
  kThrown = 1ull << 28,
  kDropped = 1ull << 29,
  kMoved = 1ull << 30,
  kBuilt = 1ull << 31,
  kFixed = 1ull << 32,
  kHolder = 1ull << 33,   // things are in it
  kSurface = 1ull << 34,  // things are on, under and beside it
  kPlace = 1ull << 35,
  kColored = 1ull << 36,
  kLengthy = 1ull << 37,
  kBlade = 1ull << 38,
  kMountain = 1ull << 39,
  kSong = 1ull << 40,
  kRaised = 1ull << 41,  // animals people keep
  kBird = 1ull << 42,
  kTool = 1ull << 43,
  kWarm = 1ull << 44,  // eaten or drunk hot
  kFruit = 1ull << 45,
  kCity = 1ull << 46,
  kMass = 1ull << 47,  // no article, no plural
  kName = 1ull << 48,
  kPronoun = 1ull << 49,
  kLaundry = 1ull << 51,
  kCooked = 1ull << 52,
  kRelated = 1ull << 53,       // persons somebody has: my teacher
  kBorn = 1ull << 54,          // what people are, not what they have become: not said of any name
  kSurroundings = 1ull << 50,  // a room or town that can be quiet or noisy
};

enum class Counter { myeong, mari, gwon, gae, dae, beol, jang, jaru, tong, pyeon, songi, gru, jan, got, bu, gok, chae };
std::string_view counter_text(Counter counter);

struct Adjective;
struct Verb;

struct Noun {
  std::string english, plural, korean;
  Kinds kinds = 0;
  Counter counter = Counter::gae;
  std::string_view preposition;  // of places: in, at, on
  std::string object_form;       // of pronouns: me
  bool first_person = false;
  bool plural_only = false;                    // we, they
  std::vector<const Adjective*> adjectives;    // those that go with it
  std::vector<const Adjective*> predicates;    // those of them that can stand alone
  std::vector<const Adjective*> comparatives;  // those of them that compare
  std::vector<const Verb*> object_of;          // verbs it can be the relative object of
  bool is(Kinds any) const { return (kinds & any) != 0; }
};

struct Adjective {
  std::string english, comparative, superlative;  // "bigger", "more" beside the word; empty: not compared
  Conjugation forms;
  std::string before_noun;  // 큰
  Kinds kinds = 0;
  std::vector<const Noun*> nouns;  // that it goes with
  bool alone = true;               // "the book is …"
};

enum class Frame {
  intransitive,
  transitive,
  give,  // something to somebody
  to,    // to a place, 에
  from,  // from a place, 에서
  live,  // in a place, 에
};

struct Verb {
  std::string base, third, past, ing;
  std::string_view with;  // the preposition that belongs to it: wait "for"
  Conjugation forms;
  const Conjugation* negative = nullptr;  // a word of its own for the negative: 알다, 모르다
  Frame frame = Frame::transitive;
  Kinds subjects = kPerson, objects = 0;
  Particle object_particle = Particle::object;
  bool adjectival = false;      // conjugates like an adjective: 필요하다
  bool stative = false;         // no progressive, no can, want, must, no manner
  bool asks_object = true;      // "What does … ?" is clear without the object
  bool relative_object = true;  // "the book which … reads" has the same particle-less Korean
  std::vector<const Noun*> object_nouns, subject_nouns;
  std::vector<const Noun*> instruments;                    // with a pen
  bool ambiguous_present() const { return base == past; }  // "they read": only the past is ever written so
};

enum TenseBit : unsigned { kPresentBit = 1, kPastBit = 2, kFutureBit = 4 };

struct Adverb {
  std::string_view english, korean;  // each may be several words
  unsigned tenses = 7;
};

struct Number {
  std::string_view english, korean;  // 세, before a counter
};

struct Relation {
  std::string_view english, korean;  // "next to", 옆에
};

struct Words {
  std::vector<Noun> nouns;
  std::vector<Adjective> adjectives;
  std::vector<Verb> verbs;
  std::vector<Adverb> times, frequencies, manners;
  std::vector<Number> numbers;
  std::vector<Relation> relations;
  // Lists by use, pointing into the above.
  std::vector<const Noun*> persons, professions, animals, names, pronouns, places, cities, surfaces, holders, vehicles,
      findable,
      kept;  // findable: what can lie on or in something; kept: animals and persons
  std::vector<const Verb*> intransitive, transitive, give, motion, live;
};

// Built once, never changed.
const Words& words();

}  // namespace limpid::grammar
