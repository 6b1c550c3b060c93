#include "inspect/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace limpid {
namespace {

using testing::ElementsAre;

// What stands below the horizontal axis of a chart whose points lie at these places.
std::vector<std::string> marks_below(const std::vector<double>& places, bool log_x) {
  Chart chart{.series = {{.name = "one"}}, .log_x = log_x};
  for (const double x : places) chart.series[0].points.push_back({x, 1 - 0.25 * x});
  const std::string svg = to_svg(chart);
  const std::regex mark("class=\"mark\" text-anchor=\"middle\">([^<]*)<");
  std::vector<std::string> found;
  for (std::sregex_iterator it(svg.begin(), svg.end(), mark), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}

TEST(Chart, AxesAreMarkedWhereNumbersOfTheirKindLie) {
  EXPECT_THAT(marks_below({0, 1}, false), ElementsAre("0", "1"));  // blocks: no half ones
  EXPECT_THAT(marks_below({0, 0.5, 1}, false), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
  EXPECT_THAT(marks_below({1, 2, 4, 8}, true), ElementsAre("1", "2", "4", "8"));
  EXPECT_THAT(marks_below({4, 1024}, true), ElementsAre("4", "8", "16", "32", "64", "128", "256", "512", "1024"));
  EXPECT_THAT(marks_below({3, 40}, true), ElementsAre("5", "10", "20"));
}

TEST(Chart, ManyDecadesAreMarkedByPowersOfTen) {
  EXPECT_THAT(marks_below({0.001, 0.5, 100}, true), ElementsAre("0.001", "0.01", "0.1", "1", "10", "100"));
  EXPECT_THAT(marks_below({9e7, 2e11}, true), ElementsAre("10⁸", "10⁹", "10¹⁰", "10¹¹"));
}

}  // namespace
}  // namespace limpid
