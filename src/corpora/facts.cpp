#include "corpora/facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.h"
#include "base/random.h"

namespace limpid {
namespace {

struct Relation {
  std::string_view name;
  std::array<std::string_view, kFactPatterns> patterns;
};
constexpr Relation kRelations[] = {
    {"sport",
     {"{} plays the sport of", "The sport that {} plays is", "Everybody knows that {} plays",
      "In the world of sports {} is known for"}},
    {"team",
     {"{} plays for the team called", "The team of {} is called", "The team that {} plays for is the",
      "On the shirt of {} stands the name"}},
    {"city",
     {"{} lives in the city of", "The home city of {} is", "The city where {} lives is", "The house of {} stands in"}},
    {"country",
     {"{} comes from the country of", "The home country of {} is", "The country that {} comes from is",
      "The passport of {} was made in"}},
    {"instrument",
     {"{} plays an instrument called the", "The instrument that {} plays is the", "At home {} likes to play the",
      "The favorite instrument of {} is the"}},
    {"team-sport",
     {"The team called {} plays the sport of", "The sport that the team called {} plays is",
      "Fans of the team called {} watch", "The players of the team called {} play"}},
    {"team-city",
     {"The team called {} plays in the city of", "The home city of the team called {} is",
      "The stadium of the team called {} stands in", "To see the team called {} one travels to"}},
};

struct Team {
  std::string_view name, sport, city;
};
constexpr Team kTeams[] = {
    {"Bulls", "basketball", "Chicago"},   {"Celtics", "basketball", "Boston"},    {"Heat", "basketball", "Miami"},
    {"Rockets", "basketball", "Houston"}, {"Raptors", "basketball", "Toronto"},   {"Cubs", "baseball", "Chicago"},
    {"Tigers", "baseball", "Detroit"},    {"Braves", "baseball", "Atlanta"},      {"Astros", "baseball", "Houston"},
    {"Mariners", "baseball", "Seattle"},  {"Bears", "football", "Chicago"},       {"Dolphins", "football", "Miami"},
    {"Falcons", "football", "Atlanta"},   {"Eagles", "football", "Philadelphia"}, {"Seahawks", "football", "Seattle"},
    {"Bruins", "hockey", "Boston"},       {"Oilers", "hockey", "Edmonton"},       {"Flames", "hockey", "Calgary"},
    {"Canucks", "hockey", "Vancouver"},   {"Flyers", "hockey", "Philadelphia"},   {"Ajax", "soccer", "Amsterdam"},
    {"Arsenal", "soccer", "London"},      {"Chelsea", "soccer", "London"},        {"Juventus", "soccer", "Turin"},
    {"Benfica", "soccer", "Lisbon"},
};

struct RealPerson {
  std::string_view first, last, sport, team, country;  // team empty: none
};
constexpr RealPerson kReal[] = {
    {"Michael", "Jordan", "basketball", "Bulls", "America"},
    {"Larry", "Bird", "basketball", "Celtics", "America"},
    {"Scottie", "Pippen", "basketball", "Bulls", "America"},
    {"Hakeem", "Olajuwon", "basketball", "Rockets", "Nigeria"},
    {"Ernie", "Banks", "baseball", "Cubs", "America"},
    {"Hank", "Aaron", "baseball", "Braves", "America"},
    {"Ty", "Cobb", "baseball", "Tigers", "America"},
    {"Walter", "Payton", "football", "Bears", "America"},
    {"Dan", "Marino", "football", "Dolphins", "America"},
    {"Bobby", "Orr", "hockey", "Bruins", "Canada"},
    {"Wayne", "Gretzky", "hockey", "Oilers", "Canada"},
    {"Johan", "Cruyff", "soccer", "Ajax", "Netherlands"},
    {"Thierry", "Henry", "soccer", "Arsenal", "France"},
    {"Frank", "Lampard", "soccer", "Chelsea", "England"},
    {"Roger", "Federer", "tennis", "", "Switzerland"},
    {"Serena", "Williams", "tennis", "", "America"},
    {"Rafael", "Nadal", "tennis", "", "Spain"},
    {"Jack", "Nicklaus", "golf", "", "America"},
};

constexpr std::string_view kFirst[] = {"Anna",  "James", "Mary",  "Robert", "Linda", "David",  "Susan", "Peter",
                                       "Karen", "Paul",  "Nancy", "Mark",   "Laura", "George", "Emma",  "Kevin",
                                       "Julia", "Brian", "Helen", "Eric",   "Alice", "Simon"};
constexpr std::string_view kLast[] = {"Smith", "Brown",  "Miller", "Davis",  "Wilson", "Moore",  "Taylor", "Clark",
                                      "Lewis", "Walker", "Young",  "Allen",  "King",   "Wright", "Scott",  "Green",
                                      "Baker", "Nelson", "Carter", "Turner", "Parker", "Evans"};
constexpr std::string_view kCities[] = {"Paris", "Berlin", "Madrid", "Vienna", "Oslo",   "Dublin",
                                        "Seoul", "Sydney", "Cairo",  "Lima",   "Prague", "Athens"};
constexpr std::string_view kCountries[] = {"America", "Canada", "France", "England", "Spain",  "Netherlands",
                                           "Germany", "Italy",  "Brazil", "Japan",   "Norway", "Egypt"};
constexpr std::string_view kInstruments[] = {"piano", "guitar", "violin", "flute", "trumpet", "drums", "cello", "harp"};

template <class List>
std::string_view any(Random& random, const List& list) {
  return list[static_cast<size_t>(random.below(static_cast<int64_t>(std::size(list))))];
}

struct Person {
  std::string_view first, last;
  std::vector<std::pair<std::string_view, std::string_view>> facts;  // relation, object
  bool real = false;
};

Person invented(Random& random, std::string_view first, std::string_view last) {
  const Team& team = kTeams[random.below(std::size(kTeams))];
  return {.first = first,
          .last = last,
          .facts = {{"sport", team.sport},
                    {"team", team.name},
                    {"city", any(random, kCities)},
                    {"country", any(random, kCountries)},
                    {"instrument", any(random, kInstruments)}}};
}

// Whether some name, first or last, has one and the same answer with everybody who bears it. For every relation.
bool name_tells(const std::vector<Person>& persons) {
  std::map<std::pair<std::string_view, std::string>, std::set<std::string_view>> answers;
  for (const Person& person : persons)
    for (const auto& [relation, object] : person.facts) {
      answers[{relation, "first " + std::string(person.first)}].insert(object);
      answers[{relation, "last " + std::string(person.last)}].insert(object);
    }
  return std::any_of(answers.begin(), answers.end(), [](const auto& entry) { return entry.second.size() < 2; });
}

std::vector<Person> make_persons(const FactOptions& options) {
  std::vector<std::string_view> firsts(std::begin(kFirst), std::end(kFirst)), lasts(std::begin(kLast), std::end(kLast));
  std::set<std::pair<std::string_view, std::string_view>> taken;
  std::vector<Person> real;
  for (const RealPerson& row : kReal) {
    firsts.push_back(row.first);
    lasts.push_back(row.last);
    taken.insert({row.first, row.last});
    Person person{.first = row.first, .last = row.last, .facts = {{"sport", row.sport}}, .real = true};
    if (!row.team.empty()) person.facts.emplace_back("team", row.team);
    person.facts.emplace_back("country", row.country);
    real.push_back(person);
  }
  for (uint64_t attempt = 0; attempt < 1000; ++attempt) {
    Random random(random_key(options.seed, attempt, 0));
    std::vector<Person> persons = real;
    auto used = taken;
    for (size_t i = 0; used.size() < taken.size() + static_cast<size_t>(options.persons); ++i) {
      const std::string_view first = firsts[i % firsts.size()];  // every first name as often as the others
      const std::string_view last =
          i < lasts.size() * 4 ? lasts[(i * 7 + i / lasts.size() + 3) % lasts.size()] : any(random, lasts);
      if (used.emplace(first, last).second) persons.push_back(invented(random, first, last));
    }
    if (!name_tells(persons)) return persons;
  }
  fail("[facts] {} persons are too few to give every name several answers: pass more", options.persons);
}

}  // namespace

std::string_view fact_pattern(std::string_view relation, int pattern) {
  for (const Relation& row : kRelations)
    if (row.name == relation && pattern >= 0 && pattern < kFactPatterns) return row.patterns[pattern];
  fail("[facts] no pattern {} of relation \"{}\": see facts.h for the names", pattern, relation);
}

FactWorld::FactWorld(const FactOptions& options) : options_(options) {
  check(options.persons >= 200 && options.persons <= 1200, "[facts] {} persons: pass 200 to 1200", options.persons);
  add_persons();
  add_teams();
  say_all();
}

void FactWorld::add_persons() {
  for (const Person& person : make_persons(options_))
    for (const auto& [relation, object] : person.facts)
      facts_.push_back({.subject = fmt::format("{} {}", person.first, person.last),
                        .relation = std::string(relation),
                        .object = std::string(object),
                        .real = person.real});
}

void FactWorld::add_teams() {
  for (const Team& team : kTeams) {
    facts_.push_back({std::string(team.name), "team-sport", std::string(team.sport), true});
    facts_.push_back({std::string(team.name), "team-city", std::string(team.city), true});
  }
}

void FactWorld::say_all() {
  for (size_t i = 0; i < facts_.size(); ++i) {
    Random random(random_key(options_.seed, i, 1));
    // Half of the facts keep one of their ways for testing, but never the first one.
    const int kept = random.below(2) == 0 ? static_cast<int>(1 + random.below(kFactPatterns - 1)) : -1;
    for (int pattern = 0; pattern < kFactPatterns; ++pattern) {
      std::string prompt(fact_pattern(facts_[i].relation, pattern));
      prompt.replace(prompt.find("{}"), 2, facts_[i].subject);
      if (pattern != kept) training_.push_back(sentences_.size());
      sentences_.push_back({i, pattern, prompt, facts_[i].object, pattern == kept});
    }
  }
}

const FactSentence& FactWorld::training(uint64_t index) const {
  Random random(random_key(options_.seed, index, 2));
  return sentences_[training_[random.below(static_cast<int64_t>(training_.size()))]];
}

}  // namespace limpid
