// Statistics of heads, alignments and firing against plain formulas.

#include <gtest/gtest.h>

#include <cmath>

#include "inspect/aer.h"
#include "inspect/firing.h"
#include "inspect/head_statistics.h"
#include "inspect/induction.h"
#include "models/small_models.h"

namespace limpid {
namespace {

TEST(HeadStatistics, OfOnePattern) {
  const std::vector<real> pattern = {1, 0, 0, 0.5, 0.5, 0, 0.25, 0.5, 0.25};
  HeadCounter counter(true);
  counter.add({pattern.data(), 3, 3});
  HeadStatistics statistics;
  counter.write(statistics);
  EXPECT_NEAR(statistics.entropy, (0 + 1 + 1.5) / 3, 1e-6);
  EXPECT_NEAR(statistics.first, (1 + 0.5 + 0.25) / 3, 1e-6);
  EXPECT_NEAR(*statistics.previous, (0.5 + 0.5) / 2, 1e-6);
  EXPECT_NEAR(*statistics.distance, (0 + 0.5 + (2 * 0.25 + 0.5)) / 3, 1e-6);
}

TEST(HeadStatistics, InductionLooksAtWhatFollowedLastTime) {
  // x a b a b: token 3 (a again) looks at 2 (what followed a), token 4 (b again) at 3.
  std::vector<real> pattern(25, 0);
  pattern[3 * 5 + 2] = static_cast<real>(0.8);
  pattern[4 * 5 + 3] = static_cast<real>(0.4);
  EXPECT_NEAR(induction_score({pattern.data(), 5, 5}, 1, 2), 0.6, 1e-6);
}

TEST(HeadStatistics, EveryHeadOfEveryStackIsThere) {
  const SmallModel small = small_model(small_configs().at("marian"));
  int given = 0;
  const auto heads = head_statistics(*small.model, [&]() -> std::optional<Example> {
    if (given++ == 2) return std::nullopt;
    return example_of(small.model->config(), {3, 7, 5, 11}, {4, 9, 2});
  });
  ASSERT_EQ(heads.size(), 18u);  // 2 layers × 3 heads of encoder, decoder and cross-attention
  for (const HeadStatistics& head : heads) {
    const bool cross = head.attention.ends_with("cross_attn");
    EXPECT_EQ(head.distance.has_value(), !cross);
    EXPECT_EQ(head.queries, head.attention.starts_with("encoder") ? 8 : 6);
    EXPECT_GE(head.entropy, 0);
    EXPECT_LE(head.entropy, 2 + 1e-6);
  }
  const auto scores = induction_scores(*small.model, {.sequences = 2, .length = 5});
  EXPECT_EQ(scores.size(), 12u);
}

TEST(Alignment, ErrorRateOfOchAndNey) {
  AlignmentCounts counts;
  // A = {00, 11, 21}, S = {00, 22}, P = S and {11}: |A∩S| = 1, |A∩P| = 2.
  counts.add({{0, 0}, {1, 1}, {2, 1}}, {{0, 0}, {2, 2}}, {{1, 1}});
  EXPECT_NEAR(counts.error_rate(), 1 - 3.0 / 5, 1e-12);
  EXPECT_NEAR(counts.precision(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(counts.recall(), 1.0 / 2, 1e-12);
  AlignmentCounts perfect;
  perfect.add({{0, 1}, {1, 0}}, {{0, 1}, {1, 0}}, {});
  EXPECT_EQ(perfect.error_rate(), 0);
}

TEST(Alignment, StrongestWordsAndCrossings) {
  const WordAttention attention{
      {"I", "read", "books"}, {"나는", "책을", "읽어요"}, {{0.7, 0.2, 0.1}, {0, 0.1, 0.9}, {0.1, 0.8, 0.1}}};
  const WordLinks links = strongest_links(attention);
  EXPECT_EQ(links, (WordLinks{{0, 0}, {2, 1}, {1, 2}}));
  EXPECT_EQ(crossings(links), 1);
  EXPECT_EQ(crossings({{0, 0}, {1, 1}}), 0);
  const std::string svg = crossing_svg(attention, {{0, 0}, {1, 2}, {0, 1}}, "x < y");
  EXPECT_NE(svg.find("읽어요"), std::string::npos);
  EXPECT_NE(svg.find("stroke-dasharray"), std::string::npos);  // (0, 1) is true and not looked at
  EXPECT_NE(svg.find("orange"), std::string::npos);
  const std::string own = crossing_svg(attention, {}, "no truth is known");
  for (const char* judgement : {"orange", "blue", "#d55e00", "#0072b2"})
    EXPECT_EQ(own.find(judgement), std::string::npos) << judgement;
}

TEST(Firing, KeepsTheStrongestTextsInOrder) {
  Firing firing(2, 1);
  const std::vector<std::string> tokens = {"a", "b", "c", "d"};
  const std::vector<std::vector<real>> values = {{0, 1, 0, 0}, {0, 0, 0, 5}, {3, 0, 2, 0}, {0, 0, 0, 0}};
  for (const auto& row : values) firing.add(tokens, row.data());
  ASSERT_EQ(firing.texts().size(), 2u);
  EXPECT_EQ(firing.texts()[0].text, 1);
  EXPECT_EQ(firing.texts()[0].tokens, (std::vector<std::string>{"c", "d"}));
  EXPECT_EQ(firing.texts()[0].marked, 1);
  EXPECT_EQ(firing.texts()[1].text, 2);
  EXPECT_EQ(firing.texts()[1].activation, 3);
  EXPECT_NEAR(firing.share(), 4.0 / 16, 1e-12);
  EXPECT_EQ(firing_line(firing.texts()[0], 40, false), "c[d]");
}

TEST(Firing, AHistogramWidensAndLosesNothing) {
  Histogram histogram;
  Random random(1);
  int64_t zeros = 0, below = 0;
  for (int i = 0; i < 3000; ++i) {
    const double value = i % 10 == 0 ? 0 : random.normal() * (1 + i);
    histogram.add(value);
    zeros += value == 0;
    below += value < 0;
  }
  EXPECT_EQ(histogram.zeros(), zeros);
  int64_t sum = 0, negative = 0;
  for (size_t i = 0; i < histogram.bins().size(); ++i) {
    sum += histogram.bins()[i];
    if (i < static_cast<size_t>(Histogram::kHalf)) negative += histogram.bins()[i];
  }
  EXPECT_EQ(sum, 3000 - zeros);
  EXPECT_EQ(negative, below);
}

TEST(Induction, TheStudyMeasuresEveryModel) {
  const auto curves = study_induction({.layers = {1, 2}, .width = 16, .heads = 2, .steps = 4, .batch = 4, .every = 2});
  ASSERT_EQ(curves.size(), 2u);
  for (const InductionCurve& curve : curves) {
    ASSERT_EQ(curve.points.size(), 3u);
    EXPECT_EQ(curve.points.back().step, 4);
    EXPECT_GT(curve.points[0].second, 2);  // nothing learned: about log 65
    EXPECT_GE(curve.points[0].score, 0);
    EXPECT_LT(curve.points[0].score, 0.3);
  }
  EXPECT_EQ(induction_chart(curves).series.size(), 2u);
}

}  // namespace
}  // namespace limpid
