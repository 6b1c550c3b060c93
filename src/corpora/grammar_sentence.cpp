#include "corpora/grammar_sentence.h"

namespace limpid::grammar {

bool handy(const Noun& noun) {
  return noun.is(kDropped | kTool | kFruit | kClothes | kHeadwear | kText) && !noun.is(kMass | kSong | kHolder);
}

bool alike(const Noun& a, const Noun& b) {
  constexpr Kinds kSorts[] = {kPerson,
                              kAnimal,
                              kPlace,
                              kFood,
                              kDrink,
                              kText | kShow | kSong,
                              kStudy,
                              kCar | kCycle | kTransit,
                              kClothes,
                              kSurface,
                              kStruck | kBowed | kBlown,
                              kTool};
  for (Kinds sort : kSorts)
    if (a.is(sort) != b.is(sort)) return false;
  return true;
}

bool NounPhrase::definite() const {
  if (noun->is(kName | kPronoun)) return true;
  if (noun->is(kMass) && number < 0) return true;  // coffee as such
  return determiner != Determiner::none && determiner != Determiner::a;
}

bool owned(const Noun& noun) {
  if (noun.is(kPerson)) return noun.is(kRelated);
  if (noun.is(kPlace)) return noun.is(kCleaned);
  return !noun.is(kAnimal) || noun.is(kRaised);
}

bool NounPhrase::many() const { return plural || also != nullptr; }

}  // namespace limpid::grammar
