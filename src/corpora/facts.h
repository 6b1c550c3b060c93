#pragma once
// A small world of facts for language models: who plays which sport, for which team, where they live and come from.
// Every fact has several paraphrases, always with the answer as the last word, so that a model can be asked by the
// beginning of a sentence. Neither a first name nor a last name alone tells the answer: there are other Michaels and
// other Jordans, and they play other sports.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

struct Fact {
  std::string subject;   // "Michael Jordan"
  std::string relation;  // sport, team, city, country, instrument; of teams: team-sport, team-city
  std::string object;    // "basketball": always one word
  bool real = false;     // of a person who exists, and true; the others are invented
};

// One paraphrase of a fact: the sentence is prompt + " " + answer.
struct FactSentence {
  size_t fact = 0;  // its place among the facts
  int pattern = 0;  // which of the relation's paraphrases
  std::string prompt, answer;
  bool held_out =
      false;  // never trained on; the same fact is stated in other words, and the same words of other subjects
  std::string text() const { return prompt + " " + answer; }
};

struct FactOptions {
  uint64_t seed = 1;
  int persons = 240;  // invented ones, 200 to 1200
};

class FactWorld {
 public:
  explicit FactWorld(const FactOptions& options = {});

  const std::vector<Fact>& facts() const { return facts_; }
  const std::vector<FactSentence>& sentences() const { return sentences_; }  // all, held out or not

  // The index-th sentence of an endless training text: random, but a pure function of seed and index.
  const FactSentence& training(uint64_t index) const;

 private:
  void add_persons();
  void add_teams();
  void say_all();

  FactOptions options_;
  std::vector<Fact> facts_;
  std::vector<FactSentence> sentences_;
  std::vector<size_t> training_;  // sentences that are not held out
};

inline constexpr int kFactPatterns = 4;  // paraphrases of each relation

// "{} plays the sport of": the subject goes where the braces are.
std::string_view fact_pattern(std::string_view relation, int pattern);

}  // namespace limpid
