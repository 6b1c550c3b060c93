#include "text/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class CorpusTest : public testing::Test {
 protected:
  fs::path file(const std::string& name, const std::string& text) const {
    write_text(folder_ / name, text);
    return folder_ / name;
  }
  // "line: first|second" of every example.
  static std::vector<std::string> examples(const CorpusFiles& files) {
    std::vector<std::string> result;
    CorpusReader reader(files);
    double before = 0;
    while (const auto example = reader.next()) {
      result.push_back(std::to_string(example->line) + ": " + std::string(example->first) + "|" +
                       std::string(example->second));
      EXPECT_GE(reader.progress(), before);
      before = reader.progress();
    }
    EXPECT_EQ(reader.progress(), 1);
    return result;
  }
  static std::string error_of(const CorpusFiles& files) {
    try {
      CorpusReader reader(files);
      while (reader.next()) {
      }
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
};

TEST_F(CorpusTest, ReadsAlignedFilesSideBySide) {
  const CorpusFiles files{{file("a", "one\n\nthree\n"), file("b", "eins\nzwei\ndrei")}, true};
  EXPECT_THAT(examples(files), ElementsAre("1: one|eins", "2: |zwei", "3: three|drei"));
}

TEST_F(CorpusTest, FilesOfDifferentLengthAreAnErrorWithBothCounts) {
  const fs::path longer = file("long", "1\n2\n3\n4\n5\n"), shorter = file("short", "1\n2\n3\n");
  EXPECT_THAT(error_of({{longer, shorter}, true}), AllOf(HasSubstr("short has 3 lines"), HasSubstr("long has 5")));
  EXPECT_THAT(error_of({{shorter, longer}, true}), AllOf(HasSubstr("short has 3 lines"), HasSubstr("long has 5")));
  EXPECT_THAT(error_of({{longer, file("empty", "")}, true}), HasSubstr("empty has 0 lines"));
}

TEST_F(CorpusTest, ReadsTheColumnsOfATable) {
  const fs::path table = file("t.tsv", "a\tb\tc\nd\t\tf\r\n");
  EXPECT_THAT(examples({{table}, true}), ElementsAre("1: a|b", "2: d|"));
  EXPECT_THAT(examples({{table}, true, {2, 0}}), ElementsAre("1: c|a", "2: f|d"));
}

TEST_F(CorpusTest, ALineWithoutTheColumnsIsAnErrorWithItsNumber) {
  const fs::path table = file("t.tsv", "a\tb\nc\td\nno tab here\n");
  EXPECT_THAT(error_of({{table}, true}), AllOf(HasSubstr("t.tsv: line 3"), HasSubstr("column 1")));
  EXPECT_THAT(error_of({{table}, true, {5, 0}}), AllOf(HasSubstr("line 1"), HasSubstr("column 5")));
}

TEST_F(CorpusTest, TextsFollowOneAnother) {
  const CorpusFiles files{{file("a", "one\ntwo\n"), file("empty", ""), file("b", "three\tfour\n")}};
  EXPECT_THAT(examples(files), ElementsAre("1: one|", "2: two|", "1: three\tfour|"));
}

TEST_F(CorpusTest, BrokenTextIsAnErrorWithItsLine) {
  const fs::path good = file("good", "1\n2\n3\n"), broken = file("broken", "1\n2\n\xff\n");
  EXPECT_THAT(error_of({{good, broken}, true}), AllOf(HasSubstr("broken"), HasSubstr("3")));
  EXPECT_THAT(error_of({{good, broken}}), AllOf(HasSubstr("broken"), HasSubstr("3")));
}

TEST_F(CorpusTest, TheNumberOfFilesMustMakeSense) {
  const fs::path a = file("a", "1\n");
  EXPECT_THAT(error_of({{}, false}), HasSubstr("data.train"));
  EXPECT_THAT(error_of({{a, a, a}, true}), HasSubstr("3 files"));
  EXPECT_THAT(error_of({{folder_ / "nowhere"}}), HasSubstr("nowhere"));
}

}  // namespace
}  // namespace limpid
