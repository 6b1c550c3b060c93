#include "experiments/verdict.h"

#include <gtest/gtest.h>

#include <limits>

#include "experiments/result.h"

namespace limpid {
namespace {

// A result with a main part a ≥ 1, a part b ≤ 2 and, if asked for, a baseline c ≥ 0; one seed per row of numbers.
Json result_of(const std::vector<std::array<double, 3>>& rows, bool baseline = true) {
  const Measure a{.key = "a", .threshold = 1, .main = true};
  const Measure b{.key = "b", .must = Measure::Must::at_most, .threshold = 2};
  const Measure c{.key = "c", .threshold = 0};
  Json result = {{"parts", {measure_json(a), measure_json(b)}},
                 {"baseline", baseline ? measure_json(c) : Json()},
                 {"seeds", Json::array()}};
  for (const auto& row : rows)
    result["seeds"].push_back({{"numbers", {{"a", row[0]}, {"b", row[1]}, {"c", row[2]}}}, {"units", Json::object()}});
  return Json::parse(result.dump());  // as read from a file: what is not finite is null
}

TEST(Verdict, HoldsWhereEveryPartPassesInEverySeed) {
  EXPECT_EQ(judge(result_of({{1, 2, 0}, {5, 0, 0}, {1, 2, 9}})), Verdict::holds);
  EXPECT_EQ(judge(result_of({{1, 2, -1}}, false)), Verdict::holds);
}

TEST(Verdict, HoldsInPartWhereSomethingFailsButNotTheMainPartInMostSeeds) {
  EXPECT_EQ(judge(result_of({{1, 2.1, 0}, {1, 2, 0}, {1, 2, 0}})), Verdict::holds_in_part);
  EXPECT_EQ(judge(result_of({{0.9, 2, 0}, {1, 2, 0}, {1, 2, 0}})), Verdict::holds_in_part);
  EXPECT_EQ(judge(result_of({{1, 9, 0}, {1, 9, 0}, {1, 9, 0}})), Verdict::holds_in_part);
}

TEST(Verdict, DoesNotHoldWhereTheMainPartFailsInMostSeeds) {
  EXPECT_EQ(judge(result_of({{0.9, 2, 0}, {0.9, 2, 0}, {1, 2, 0}})), Verdict::fails_here);
  EXPECT_EQ(judge(result_of({{0.9, 2, 0}})), Verdict::fails_here);
}

TEST(Verdict, IsUndecidedWhereTheBaselineDidNotLearn) {
  EXPECT_EQ(judge(result_of({{1, 2, -1}})), Verdict::undecided);
  EXPECT_EQ(judge(result_of({{0, 2, -1}, {0, 2, -1}, {1, 2, 0}})), Verdict::undecided);
  // One seed of three says nothing: the others decide, and not in full.
  EXPECT_EQ(judge(result_of({{0, 9, -1}, {1, 2, 0}, {1, 2, 0}})), Verdict::holds_in_part);
  EXPECT_EQ(judge(result_of({{1, 2, -1}, {0, 2, 0}, {0, 2, 0}})), Verdict::fails_here);
  EXPECT_EQ(judge(result_of({})), Verdict::undecided);
}

TEST(Verdict, NumbersThatAreMissingOrNotFiniteFail) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judge(result_of({{kNan, 2, 0}})), Verdict::fails_here);
  EXPECT_EQ(judge(result_of({{std::numeric_limits<double>::infinity(), 2, 0}})), Verdict::fails_here);
  Json result = result_of({{1, 2, 0}});
  result["seeds"][0]["numbers"].erase("a");
  EXPECT_EQ(judge(result), Verdict::fails_here);
}

TEST(Verdict, SpreadsOverTheSeedsWhoseBaselineLearned) {
  const Json result = result_of({{1, 2, 0}, {3, 2, 0}, {100, 2, -1}});
  const PartVerdict part = judge_part(result, result["parts"][0]);
  EXPECT_EQ(part.seeds, 2);
  EXPECT_EQ(part.mean, 2);
  EXPECT_EQ(part.least, 1);
  EXPECT_EQ(part.most, 3);
  EXPECT_EQ(judge_part(result, result["baseline"]).seeds, 3);
}

TEST(Verdict, WhereNoBaselineLearnedPartsAreMeasuredButNotJudged) {
  const Json result = result_of({{1, 2, -1}, {3, 2, -1}});
  const PartVerdict part = judge_part(result, result["parts"][0]);
  EXPECT_EQ(part.seeds, 0);
  EXPECT_FALSE(part.holds());
  EXPECT_STREQ(part.mark(), "–");
  EXPECT_EQ(spread_text(part), "2 (1 … 3)");
  EXPECT_STREQ(judge_part(result, result["baseline"]).mark(), "✗");
  // Of a contrary run the main part counts all the same.
  EXPECT_EQ(judge_main_part(result).passed, 2);
}

TEST(Verdict, IsProvisionalBelowThreeSeedsUnlessNumbersAreExact) {
  const auto of = [](size_t seeds, const char* size, bool counted) {
    Json result = result_of(std::vector<std::array<double, 3>>(seeds, {1, 2, 0}));
    result["size"] = size;
    result["counted"] = counted;
    return is_provisional(result);
  };
  EXPECT_FALSE(of(3, "full", false));
  EXPECT_TRUE(of(2, "full", false));
  EXPECT_TRUE(of(1, "full", false));
  EXPECT_FALSE(of(1, "full", true));
  EXPECT_TRUE(of(3, "quick", false));
  EXPECT_TRUE(of(1, "quick", true));
}

TEST(Result, ComparisonsLeaveOutTimes) {
  Json result = result_of({{1, 2, 0}});
  result["seconds"] = 3;
  result["seeds"][0]["units"]["x"] = {{"loss", 1}, {"timed", {{"seconds", 2}}}};
  result["parts"][1]["timed"] = true;
  const Json left = without_times(result);
  EXPECT_FALSE(left.contains("seconds"));
  EXPECT_FALSE(left["seeds"][0]["numbers"].contains("b"));
  EXPECT_EQ(left["seeds"][0]["units"]["x"], Json({{"loss", 1}}));
}

}  // namespace
}  // namespace limpid
