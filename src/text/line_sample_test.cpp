#include "text/line_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace limpid {
namespace {

std::vector<std::string> sample(const LineSampleOptions& options, int lines) {
  LineSample sample(options);
  for (int i = 0; i < lines; ++i) sample.add(std::to_string(100000 + i));
  return sample.take();
}

TEST(LineSample, KeepsAllThatFits) {
  const auto lines = sample({.bytes = 600}, 100);
  ASSERT_EQ(lines.size(), 100u);
  EXPECT_EQ(lines.front(), "100000");
  EXPECT_EQ(lines.back(), "100099");
}

TEST(LineSample, StaysWithinItsBytesAndSpreadsEvenly) {
  const auto lines = sample({.bytes = 6000}, 100000);
  ASSERT_EQ(lines.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
  std::vector<int> tenths(10);
  for (const std::string& line : lines) ++tenths[static_cast<size_t>((std::stoi(line) - 100000) / 10000)];
  for (const int count : tenths) EXPECT_NEAR(count, 100, 40);  // four standard deviations
}

TEST(LineSample, TheSeedDecides) {
  EXPECT_EQ(sample({.bytes = 600, .seed = 1}, 10000), sample({.bytes = 600, .seed = 1}, 10000));
  EXPECT_NE(sample({.bytes = 600, .seed = 1}, 10000), sample({.bytes = 600, .seed = 2}, 10000));
}

TEST(LineSample, CutsLongLinesBetweenWordsOrCharacters) {
  std::string words, hangul;
  for (int i = 0; i < 2000; ++i) words += "word ";
  for (int i = 0; i < 5000; ++i) hangul += "한";
  for (const std::string& line : {words, hangul}) {
    LineSample sample({});
    sample.add(line);
    const auto units = sample.take();
    EXPECT_EQ(units.size(), line == words ? 3u : 4u);
    EXPECT_EQ(std::accumulate(units.begin(), units.end(), std::string()), line);
    if (line == words)
      EXPECT_TRUE(units[0].ends_with("word") && units[1].starts_with(" word"));
    else
      EXPECT_EQ(units[0].size() % 3, 0u);
  }
}

TEST(LineSample, WholeTextKeepsNeighboursTogether) {
  const auto units = sample({.whole_text = true}, 1000);
  EXPECT_LT(units.size(), 10u);
  EXPECT_TRUE(units[0].starts_with("100000\n100001\n"));
  EXPECT_TRUE(units.back().ends_with("100999\n"));
}

}  // namespace
}  // namespace limpid
