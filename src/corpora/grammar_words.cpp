#include "corpora/grammar_words.h"

#include <algorithm>
#include <array>

#include "corpora/grammar_sentence.h"
#include "corpora/grammar_tables.h"

namespace limpid::grammar {
namespace {

// The tenses an adverb of time goes with.
constexpr Adverb kTimes[] = {
    {"yesterday", "어제", kPastBit},
    {"last week", "지난주에", kPastBit},
    {"last year", "작년에", kPastBit},
    {"this morning", "오늘 아침에", kPastBit},
    {"tomorrow", "내일", kFutureBit},
    {"next week", "다음 주에", kFutureBit},
    {"next year", "내년에", kFutureBit},
    {"tonight", "오늘 밤에", kFutureBit},
    {"today", "오늘", kPresentBit | kPastBit | kFutureBit},
    {"every day", "매일", kPresentBit | kPastBit},
    {"every week", "매주", kPresentBit | kPastBit},
    {"in the morning", "아침에", kPresentBit | kPastBit | kFutureBit},
    {"in the evening", "저녁에", kPresentBit | kPastBit | kFutureBit},
    {"on Monday", "월요일에", kPastBit | kFutureBit},
    {"on Friday", "금요일에", kPastBit | kFutureBit},
    {"on Sunday", "일요일에", kPastBit | kFutureBit},
};
constexpr Adverb kFrequencies[] = {{"often", "자주"}, {"always", "항상"}, {"sometimes", "가끔"}, {"usually", "보통"}};
constexpr Adverb kManners[] = {{"quickly", "빨리"}, {"slowly", "천천히"}, {"quietly", "조용히"},
                               {"again", "다시"},   {"alone", "혼자"},    {"carefully", "조심스럽게"}};
constexpr Number kNumbers[] = {{"one", "한"},     {"two", "두"},   {"three", "세"},    {"four", "네"},
                               {"five", "다섯"},  {"six", "여섯"}, {"seven", "일곱"},  {"eight", "여덟"},
                               {"nine", "아홉"},  {"ten", "열"},   {"eleven", "열한"}, {"twelve", "열두"},
                               {"twenty", "스무"}};
constexpr Relation kRelations[] = {
    {"on", "위에"}, {"under", "아래에"}, {"next to", "옆에"}, {"behind", "뒤에"}, {"in front of", "앞에"}};

struct Tools {
  std::string_view verb;
  std::array<std::string_view, 2> nouns;
};
constexpr Tools kTools[] = {{"write", {"pen", "pencil"}},
                            {"draw", {"pencil", "pen"}},
                            {"eat", {"spoon", "fork"}},
                            {"cut", {"knife", "knife"}},
                            {"open", {"key", "knife"}}};

template <class T>
std::vector<const T*> select(const std::vector<T>& all, auto&& wanted) {
  std::vector<const T*> some;
  for (const T& one : all)
    if (wanted(one)) some.push_back(&one);
  return some;
}

void join_nouns(Words& w) {
  for (Noun& noun : w.nouns) {
    if (noun.is(kName | kPronoun)) continue;
    for (Adjective& adjective : w.adjectives) {
      if (!noun.is(adjective.kinds)) continue;
      noun.adjectives.push_back(&adjective);
      if (!adjective.alone) continue;
      noun.predicates.push_back(&adjective);
      adjective.nouns.push_back(&noun);
      if (!adjective.comparative.empty()) noun.comparatives.push_back(&adjective);
    }
  }
}

void join_verbs(Words& w) {
  for (Verb& verb : w.verbs) {
    verb.object_nouns = select(w.nouns, [&](const Noun& n) { return n.is(verb.objects); });
    verb.subject_nouns = select(w.nouns, [&](const Noun& n) { return n.is(verb.subjects) && !n.is(kName | kPronoun); });
    for (const Tools& tools : kTools) {
      if (verb.frame != Frame::transitive || verb.base != tools.verb) continue;
      for (std::string_view name : tools.nouns)
        for (const Noun& noun : w.nouns)
          if (noun.english == name) verb.instruments.push_back(&noun);
    }
  }
  for (Noun& noun : w.nouns)
    noun.object_of = select(w.verbs, [&](const Verb& v) {
      return v.frame == Frame::transitive && v.relative_object && noun.is(v.objects);
    });
}

Words make_words() {
  Words w;
  w.nouns = make_nouns();
  w.adjectives = make_adjectives();
  w.verbs = make_verbs();
  w.times.assign(std::begin(kTimes), std::end(kTimes));
  w.frequencies.assign(std::begin(kFrequencies), std::end(kFrequencies));
  w.manners.assign(std::begin(kManners), std::end(kManners));
  w.numbers.assign(std::begin(kNumbers), std::end(kNumbers));
  w.relations.assign(std::begin(kRelations), std::end(kRelations));
  return w;
}

// After the words have their final place in memory.
void join(Words& w) {
  join_nouns(w);
  join_verbs(w);
  const auto common = [](Kinds kinds) { return [=](const Noun& n) { return n.is(kinds) && !n.is(kName | kPronoun); }; };
  w.persons = select(w.nouns, common(kPerson));
  w.professions = select(w.nouns, [](const Noun& n) { return n.is(kPerson) && !n.is(kName | kPronoun | kBorn); });
  w.animals = select(w.nouns, common(kAnimal));
  w.places = select(w.nouns, common(kPlace));
  w.surfaces = select(w.nouns, common(kSurface));
  w.holders = select(w.nouns, common(kHolder));
  w.vehicles = select(w.nouns, common(kTransit));
  w.kept = select(w.nouns, common(kPerson | kAnimal));
  w.findable = select(w.nouns, handy);
  w.names = select(w.nouns, [](const Noun& n) { return n.is(kName) && n.is(kPerson); });
  w.pronouns = select(w.nouns, [](const Noun& n) { return n.is(kPronoun); });
  w.cities = select(w.nouns, [](const Noun& n) { return n.is(kCity); });
  const auto framed = [&](Frame frame) { return select(w.verbs, [=](const Verb& v) { return v.frame == frame; }); };
  w.transitive = framed(Frame::transitive);
  w.intransitive = framed(Frame::intransitive);
  w.give = framed(Frame::give);
  w.live = framed(Frame::live);
  w.motion = select(w.verbs, [](const Verb& v) { return v.frame == Frame::to || v.frame == Frame::from; });
}

}  // namespace

std::string_view counter_text(Counter counter) {
  constexpr std::array<std::string_view, 17> kTexts = {"명", "마리", "권",   "개", "대", "벌", "장", "자루", "통",
                                                       "편", "송이", "그루", "잔", "곳", "부", "곡", "채"};
  return kTexts[static_cast<size_t>(counter)];
}

const Words& words() {
  static const Words* const kWords = [] {
    auto* w = new Words(make_words());  // never freed: others may hold pointers at exit
    join(*w);
    return w;
  }();
  return *kWords;
}

}  // namespace limpid::grammar
