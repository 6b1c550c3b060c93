#include "text/sentence_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace limpid {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(SentenceSplitter, SentencesEndBehindTheirMarks) {
  EXPECT_THAT(split_sentences("It rains. Does it? Yes! Well\u2026 It stopped"),
              ElementsAre("It rains.", "Does it?", "Yes!", "Well\u2026", "It stopped"));
  EXPECT_THAT(split_sentences("  One.   Two.  "), ElementsAre("One.", "Two."));
  EXPECT_THAT(split_sentences("What?! No... Never."), ElementsAre("What?!", "No...", "Never."));
  EXPECT_THAT(split_sentences(""), IsEmpty());
  EXPECT_THAT(split_sentences(" \t "), IsEmpty());
  EXPECT_THAT(split_sentences("No mark at all"), ElementsAre("No mark at all"));
}

TEST(SentenceSplitter, AbbreviationsInitialsAndNumbersDoNotEndOne) {
  for (const char* whole :
       {"Dr. Smith met Mrs. Jones.", "J. K. Rowling wrote it.", "Pi is 3.14159 and e is 2.71828.",
        "Fruit, e.g. Apples, is sweet.", "Sie kam am 3. Oktober an.", "Er mag Obst, z.B. Birnen.",
        "Er mag Obst, z. B. Birnen.", "The U.S. Senate met at 10 a.m. Eastern time.", "See example.com for more.",
        "Version 2.0.1 is out.", "Smith et al. Found nothing.", "He waited... and waited.", "\"Stop!\" he said."})
    EXPECT_THAT(split_sentences(whole), SizeIs(1)) << whole;
  EXPECT_THAT(split_sentences("It was 1990. Then it ended."), ElementsAre("It was 1990.", "Then it ended."));
  EXPECT_THAT(split_sentences("It costs $5.50. Buy it."), ElementsAre("It costs $5.50.", "Buy it."));
}

TEST(SentenceSplitter, ClosingSignsBelongToTheSentenceBeforeAndOpeningOnesToTheNext) {
  EXPECT_THAT(split_sentences("He said \"Go.\" She went. (It was late.) \u201EGut.\u201C \u00AB Oui. \u00BB"),
              ElementsAre("He said \"Go.\"", "She went.", "(It was late.)", "\u201EGut.\u201C", "\u00AB Oui. \u00BB"));
  EXPECT_THAT(split_sentences("Sí. ¿Qué? ¡Vamos!"), ElementsAre("Sí.", "¿Qué?", "¡Vamos!"));
}

TEST(SentenceSplitter, ScriptsWithoutCapitals) {
  EXPECT_THAT(split_sentences("안녕하세요. 저는 학생입니다! 당신은요?"),
              ElementsAre("안녕하세요.", "저는 학생입니다!", "당신은요?"));
  EXPECT_THAT(split_sentences("그는 갔다. 3시에 왔다."), ElementsAre("그는 갔다.", "3시에 왔다."));
  EXPECT_THAT(split_sentences("你好。我是学生！「真的？」是的。"),
              ElementsAre("你好。", "我是学生！", "「真的？」", "是的。"));
  EXPECT_THAT(split_sentences("यह घर है। वह पेड़ है।"), ElementsAre("यह घर है।", "वह पेड़ है।"));
}

// Whatever the text, nothing but white space is lost.
TEST(SentenceSplitter, NothingIsLost) {
  const std::string text = "Mr. A. said: \"No!\"  \xFF What? 한국어. 。。 ... 5. x.. \n Ende";
  std::string all, joined;
  for (const char c : text)
    if (c != ' ' && c != '\n') all += c;
  for (const std::string_view part : split_sentences(text))
    for (const char c : part)
      if (c != ' ' && c != '\n') joined += c;
  EXPECT_EQ(joined, all);
}

TEST(SentenceSplitter, LongSentencesArePartedWhereItHurtsLeast) {
  const auto at_most = [](size_t bytes) { return [bytes](std::string_view part) { return part.size() <= bytes; }; };
  EXPECT_THAT(split_to_fit("one two, three four; five", at_most(100)), ElementsAre("one two, three four; five"));
  EXPECT_THAT(split_to_fit("one two, three four; five", at_most(20)), ElementsAre("one two, three four;", "five"));
  EXPECT_THAT(split_to_fit("one two, three four; five", at_most(8)), ElementsAre("one two,", "three", "four;", "five"));
  EXPECT_THAT(split_to_fit("abcdefgh ij", at_most(3)), ElementsAre("abc", "def", "gh", "ij"));
  EXPECT_THAT(split_to_fit("한국", at_most(1)), ElementsAre("한", "국"));  // never within a character
  EXPECT_THAT(split_to_fit("", at_most(1)), IsEmpty());
}

TEST(SentenceSplitter, JoinsAsTheScriptWrites) {
  EXPECT_EQ(join_sentences(std::vector<std::string>{"One.", "", "Two."}), "One. Two.");
  EXPECT_EQ(join_sentences(std::vector<std::string>{"你好。", "再见。"}), "你好。再见。");
  EXPECT_EQ(join_sentences(std::vector<std::string>{"안녕.", "잘 가."}), "안녕. 잘 가.");
  EXPECT_EQ(join_sentences(std::vector<std::string>{}), "");
}

}  // namespace
}  // namespace limpid
