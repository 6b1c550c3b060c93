#include "corpora/facts.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"

namespace limpid {
namespace {

TEST(Facts, KnowsMichaelJordan) {
  const FactWorld world;
  bool said = false;
  for (const FactSentence& sentence : world.sentences())
    said |= sentence.text() == "Michael Jordan plays the sport of basketball" && !sentence.held_out;
  EXPECT_TRUE(said);
}

TEST(Facts, AFirstNameOrALastNameAloneDoesNotTell) {
  for (uint64_t seed : {1, 2, 3}) {
    const FactWorld world({.seed = seed});
    std::map<std::string, std::set<std::string>> answers;
    std::set<std::string> jordans, michaels;
    for (const Fact& fact : world.facts()) {
      const size_t space = fact.subject.find(' ');
      if (space == std::string::npos) continue;  // a team
      const std::string first = fact.subject.substr(0, space), last = fact.subject.substr(space + 1);
      answers[fact.relation + " first " + first].insert(fact.object);
      answers[fact.relation + " last " + last].insert(fact.object);
      if (fact.relation == "sport" && first == "Michael") michaels.insert(fact.object);
      if (fact.relation == "sport" && last == "Jordan") jordans.insert(fact.object);
    }
    for (const auto& [name, objects] : answers) EXPECT_GE(objects.size(), 2u) << name;
    EXPECT_GE(michaels.size(), 2u);
    EXPECT_GE(jordans.size(), 2u);
  }
}

TEST(Facts, HaveOneTruthEach) {
  const FactWorld world;
  std::map<std::pair<std::string, std::string>, std::string> truth;
  for (const Fact& fact : world.facts()) {
    EXPECT_TRUE(truth.emplace(std::pair(fact.subject, fact.relation), fact.object).second) << fact.subject;
    EXPECT_EQ(fact.object.find(' '), std::string::npos);
  }
  // Who plays for a team plays its sport.
  for (const Fact& fact : world.facts()) {
    if (fact.relation != "team") continue;
    EXPECT_EQ((truth.at({fact.object, "team-sport"})), (truth.at({fact.subject, "sport"})));
  }
  EXPECT_GT(world.facts().size(), 1000u);
}

TEST(Facts, HoldOutSomeParaphrasesButNoFactAndNoPattern) {
  const FactWorld world;
  std::map<size_t, int> trained;
  std::map<std::pair<std::string, int>, int> patterns;
  int held_out = 0;
  std::set<std::string> prompts;
  for (const FactSentence& sentence : world.sentences()) {
    EXPECT_EQ(sentence.answer, world.facts()[sentence.fact].object);
    EXPECT_TRUE(prompts.insert(sentence.prompt).second);
    held_out += sentence.held_out;
    if (sentence.held_out) continue;
    ++trained[sentence.fact];
    ++patterns[{world.facts()[sentence.fact].relation, sentence.pattern}];
  }
  EXPECT_EQ(trained.size(), world.facts().size());
  for (const auto& [fact, ways] : trained) EXPECT_GE(ways, kFactPatterns - 1);
  EXPECT_EQ(patterns.size(), 7u * kFactPatterns);
  EXPECT_GT(held_out, 400);
  for (uint64_t i = 0; i < 5000; ++i) ASSERT_FALSE(world.training(i).held_out);
}

TEST(Facts, AreAFunctionOfTheSeed) {
  const FactWorld one({.seed = 5}), same({.seed = 5}), other({.seed = 6});
  ASSERT_EQ(one.sentences().size(), same.sentences().size());
  int differing = 0;
  for (size_t i = 0; i < one.sentences().size(); ++i) {
    EXPECT_EQ(one.sentences()[i].text(), same.sentences()[i].text());
    EXPECT_EQ(one.sentences()[i].held_out, same.sentences()[i].held_out);
    differing += i < other.sentences().size() && one.sentences()[i].text() != other.sentences()[i].text();
  }
  EXPECT_GT(differing, 100);
  EXPECT_EQ(one.training(17).text(), same.training(17).text());
  EXPECT_THROW(FactWorld({.persons = 3}), Error);
  EXPECT_THROW(fact_pattern("shoe-size", 0), Error);
  EXPECT_EQ(fact_pattern("sport", 0), "{} plays the sport of");
}

}  // namespace
}  // namespace limpid
