// Whole sentences against translations written by hand, with their alignments.

#include "corpora/grammar_writer.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace limpid::grammar {
namespace {

const Noun* noun(std::string_view english) {
  for (const Noun& one : words().nouns)
    if (one.english == english) return &one;
  fail("[test] no noun {}: look at grammar_nouns.cpp", english);
}
const Verb* verb(std::string_view base, std::string_view stem) {
  for (const Verb& one : words().verbs)
    if (one.base == base && one.forms.stem == stem) return &one;
  fail("[test] no verb {} {}: look at grammar_verbs.cpp", base, stem);
}
const Adjective* adjective(std::string_view english) {
  for (const Adjective& one : words().adjectives)
    if (one.english == english) return &one;
  fail("[test] no adjective {}: look at grammar_adjectives.cpp", english);
}
NounPhrase the(std::string_view english) { return {.noun = noun(english), .determiner = Determiner::the}; }
NounPhrase a(std::string_view english) { return {.noun = noun(english), .determiner = Determiner::a}; }
NounPhrase bare(std::string_view english) { return {.noun = noun(english)}; }

void expect(const Sentence& sentence, const char* english, const char* korean) {
  const SentencePair pair = write(sentence);
  EXPECT_EQ(pair.english, english);
  EXPECT_EQ(pair.korean, korean);
}

using Links = std::vector<std::pair<int, int>>;

TEST(GrammarWriter, RelativeClauseNumberAndNegation) {
  Sentence s;
  s.relative = {.gap = Gap::subject, .object = bare("coffee"), .verb = verb("like", "좋아하")};
  s.main = {.subject = the("teacher"),
            .object = the("book"),
            .verb = verb("read", "읽"),
            .tense = Tense::past,
            .negative = true};
  s.main.subject.relative = &s.relative;
  s.main.object.number = 2;
  s.main.object.plural = true;
  s.main.object.adjective = adjective("old");
  expect(s, "The teacher who likes coffee did not read the three old books.",
         "커피를 좋아하는 선생님은 오래된 책 세 권을 읽지 않았어요.");
  EXPECT_EQ(write(s).alignment,
            (Links{{1, 2}, {2, 1}, {3, 1}, {4, 0}, {5, 8}, {6, 8}, {7, 7}, {9, 5}, {9, 6}, {10, 3}, {11, 4}}));
}

TEST(GrammarWriter, TopicOfTheDefiniteSubjectOfTheIndefinite) {
  Sentence s;
  s.main = {.subject = a("student"), .object = the("coffee"), .verb = verb("drink", "마시")};
  expect(s, "A student drinks the coffee.", "학생이 커피를 마셔요.");
  s.main.subject = the("student");
  expect(s, "The student drinks the coffee.", "학생은 커피를 마셔요.");
  s.main.subject = bare("I");
  expect(s, "I drink the coffee.", "저는 커피를 마셔요.");
}

TEST(GrammarWriter, ObjectRelativesHaveTheirOwnSubject) {
  Sentence s;
  s.relative = {.gap = Gap::object, .subject = bare("I"), .verb = verb("make", "만들"), .tense = Tense::past};
  s.main = {.subject = bare("Minho"), .object = the("cake"), .verb = verb("eat", "먹"), .tense = Tense::future};
  s.main.object.relative = &s.relative;
  expect(s, "Minho will eat the cake which I made.", "민호는 제가 만든 케이크를 먹을 거예요.");
  s.relative.verb = verb("cut", "자르");
  s.relative.negative = true;
  expect(s, "Minho will eat the cake which I did not cut.", "민호는 제가 자르지 않은 케이크를 먹을 거예요.");
  s.relative = {.gap = Gap::object, .subject = bare("she"), .verb = verb("know", "알"), .tense = Tense::past};
  s.main.object = the("boy");
  s.main.object.relative = &s.relative;
  s.main.verb = verb("help", "돕");
  expect(s, "Minho will help the boy whom she knew.", "민호는 그녀가 알던 소년을 도울 거예요.");
}

TEST(GrammarWriter, ModesOfTheVerb) {
  Sentence s;
  s.main = {.subject = bare("Sujin"), .object = the("music"), .verb = verb("listen", "듣"), .mode = Mode::can};
  s.main.object.determiner = Determiner::none;
  expect(s, "Sujin can listen to music.", "수진은 음악을 들을 수 있어요.");
  s.main.negative = true;
  expect(s, "Sujin cannot listen to music.", "수진은 음악을 들을 수 없어요.");
  s.main.mode = Mode::want;
  expect(s, "Sujin does not want to listen to music.", "수진은 음악을 듣고 싶어 하지 않아요.");
  s.main.subject = bare("we");
  s.main.subject.plural = true;
  expect(s, "We do not want to listen to music.", "우리는 음악을 듣고 싶지 않아요.");
  s.main.negative = false;
  s.main.mode = Mode::must;
  expect(s, "We must listen to music.", "우리는 음악을 들어야 해요.");
  s.main.mode = Mode::progressive;
  s.main.tense = Tense::past;
  expect(s, "We were listening to music.", "우리는 음악을 듣고 있었어요.");
}

TEST(GrammarWriter, WordsOfTheirOwnForTheNegative) {
  Sentence s;
  s.main = {.subject = bare("Minho"), .object = the("singer"), .verb = verb("know", "알"), .negative = true};
  expect(s, "Minho does not know the singer.", "민호는 가수를 몰라요.");
  s.main = {
      .subject = bare("Minho"), .object = a("dog"), .verb = verb("have", "있"), .tense = Tense::past, .negative = true};
  expect(s, "Minho did not have a dog.", "민호는 개가 없었어요.");
}

TEST(GrammarWriter, Questions) {
  Sentence s;
  s.main = {.subject = the("student"), .object = the("book"), .verb = verb("buy", "사"), .tense = Tense::past};
  s.question = Question::yes_no;
  expect(s, "Did the student buy the book?", "학생은 책을 샀어요?");
  s.question = Question::subject;
  expect(s, "Who bought the book?", "누가 책을 샀어요?");
  s.question = Question::object;
  expect(s, "What did the student buy?", "학생은 무엇을 샀어요?");
  s.question = Question::where;
  expect(s, "Where did the student buy the book?", "학생은 어디에서 책을 샀어요?");
  s.question = Question::when;
  expect(s, "When did the student buy the book?", "학생은 언제 책을 샀어요?");
  s.question = Question::how_many;
  expect(s, "How many books did the student buy?", "학생은 책을 몇 권 샀어요?");
  EXPECT_EQ(write(s).alignment, (Links{{0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 1}, {3, 4}, {5, 0}, {6, 4}}));
}

TEST(GrammarWriter, OneVerbManyTranslations) {
  Sentence s;
  s.main = {.subject = bare("Yuna"), .object = the("piano"), .verb = verb("play", "치")};
  expect(s, "Yuna plays the piano.", "유나는 피아노를 쳐요.");
  s.main.verb = verb("play", "불");
  s.main.object = the("flute");
  s.main.negative = true;
  expect(s, "Yuna does not play the flute.", "유나는 플루트를 불지 않아요.");
  s.main = {.subject = bare("Yuna"), .place = the("park"), .verb = verb("play", "놀"), .tense = Tense::future};
  expect(s, "Yuna will play in the park.", "유나는 공원에서 놀 거예요.");
}

TEST(GrammarWriter, BeingSomethingSomehowSomewhere) {
  Sentence s;
  s.main = {.kind = ClauseKind::is_noun, .subject = bare("Minho"), .object = a("engineer")};
  expect(s, "Minho is an engineer.", "민호는 기술자예요.");
  s.main.object = a("student");
  s.main.tense = Tense::past;
  expect(s, "Minho was a student.", "민호는 학생이었어요.");
  s.main.negative = true;
  expect(s, "Minho was not a student.", "민호는 학생이 아니었어요.");
  s.main = {.kind = ClauseKind::compare, .subject = the("dog"), .object = the("cat"), .adjective = adjective("big")};
  expect(s, "The dog is bigger than the cat.", "개는 고양이보다 더 커요.");
  EXPECT_EQ(write(s).alignment, (Links{{1, 0}, {2, 3}, {3, 2}, {3, 3}, {4, 1}, {6, 1}}));
  s.main = {.kind = ClauseKind::is_at,
            .subject = the("cat"),
            .place = the("chair"),
            .relation = &words().relations[1],
            .negative = true};
  expect(s, "The cat is not under the chair.", "고양이는 의자 아래에 없어요.");
  s.main.kind = ClauseKind::there_is;
  s.main.negative = false;
  s.main.subject = {.noun = noun("cat"), .plural = true, .number = 1};
  expect(s, "There are two cats under the chair.", "의자 아래에 고양이 두 마리가 있어요.");
}

TEST(GrammarWriter, JoinsAndCircumstances) {
  Sentence s;
  s.joint = Joint::and_;
  s.main = {.subject = the("girl"), .object = the("door"), .verb = verb("open", "열"), .tense = Tense::past};
  s.second = {.subject = the("girl"), .object = the("ball"), .verb = verb("throw", "던지"), .tense = Tense::past};
  expect(s, "The girl opened the door and threw the ball.", "소녀는 문을 열고 공을 던졌어요.");
  s.joint = Joint::but;
  s.second.subject = the("boy");
  s.second.negative = true;
  expect(s, "The girl opened the door, but the boy did not throw the ball.",
         "소녀는 문을 열었지만 소년은 공을 던지지 않았어요.");
  Sentence t;
  t.main = {.subject = bare("he"),
            .place = bare("Seoul"),
            .companion = the("friend"),
            .vehicle = noun("subway"),
            .verb = verb("go", "가"),
            .tense = Tense::past,
            .hour = 6};
  t.main.companion.determiner = Determiner::my;
  expect(t, "He went to Seoul with my friend by subway at seven o'clock.",
         "그는 일곱 시에 제 친구와 함께 지하철로 서울에 갔어요.");
}

}  // namespace
}  // namespace limpid::grammar
