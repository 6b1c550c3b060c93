// What the cases of sacreBLEU do not say: errors, signatures with draws, advice, threads, and a score by hand.

#include "scoring/metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/parallel.h"
#include "scoring/python_text.h"
#include "scoring/text_checks.h"

namespace limpid {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Lines = std::vector<std::string>;

TEST(Bleu, ByHand) {
  // 6 of 7 words, 4 of 6 pairs, 2 of 5 triples, 1 of 4 quadruples; 7 words against 8.
  const BleuScore score = bleu(Lines{"a b c d x e f"}, Lines{"a b c d e f g h"}, {.tokenizer = BleuTokenizer::none});
  EXPECT_EQ(score.matches, (std::array<int64_t, 4>{6, 4, 2, 1}));
  EXPECT_EQ(score.totals, (std::array<int64_t, 4>{7, 6, 5, 4}));
  EXPECT_NEAR(score.brevity_penalty, std::exp(1 - 8.0 / 7), 1e-15);
  EXPECT_NEAR(score.score, 100 * std::exp(1 - 8.0 / 7) * std::pow(6.0 / 7 * 4 / 6 * 2 / 5 * 1 / 4, 0.25), 1e-12);
}

TEST(Chrf, ByHand) {
  // "ab c" has a b c, ab bc, abc; "abd" shares a b, ab and nothing of three. Precision and recall are equal, and so F.
  const double mean = (2.0 / 3 + 1.0 / 2 + 0) / 3;
  EXPECT_NEAR(chrf(Lines{"ab c"}, Lines{"abd"}), 100 * mean, 1e-12);
}

TEST(Metrics, WrongLinesAreErrors) {
  const auto message = [](const Lines& hypotheses, const Lines& references) -> std::string {
    try {
      bleu(hypotheses, references);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message({"a", "b"}, {"a", "b", "c"}), HasSubstr("2 lines and a reference has 3"));
  EXPECT_THAT(message({}, {}), HasSubstr("nothing to score"));
  EXPECT_THROW(bleu(Lines{"a"}, References{}), Error);
  EXPECT_THROW(chrf(Lines{"a"}, Lines{}), Error);
  EXPECT_THROW(chrf(Lines{"a"}, Lines{"a"}, {.word_order = -1}), Error);
}

TEST(Metrics, Signatures) {
  EXPECT_THAT(signature(BleuOptions{}),
              MatchesRegex(R"(nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:limpid-[0-9.]+)"));
  EXPECT_THAT(
      signature(ChrfOptions{.word_order = 2, .lowercase = true},
                {.references = 2, .bootstrap_draws = 1000, .randomization_draws = 10000, .seed = 12345}),
      MatchesRegex(R"(nrefs:2\|bs:1000\|ar:10000\|seed:limpid-12345\|case:lc\|eff:yes\|nc:6\|nw:2\|space:no\|.*)"));
}

TEST(Metrics, SameWithAnyNumberOfThreads) {
  Lines hypotheses, references;
  for (int i = 0; i < 100; ++i) {
    hypotheses.push_back(std::string(static_cast<size_t>(i % 7), 'x') + " the mill by the river.");
    references.push_back(std::string(static_cast<size_t>(i % 5), 'x') + " the old mill by the river.");
  }
  const std::span<const std::string> view = references;
  const int before = threads();
  for (const TextMetric& metric : {TextMetric(BleuOptions{}), TextMetric(ChrfOptions{.word_order = 2})}) {
    set_threads(1);
    const auto one = statistics(metric, hypotheses, References(&view, 1)).counts;
    set_threads(3);
    EXPECT_EQ(statistics(metric, hypotheses, References(&view, 1)).counts, one);
  }
  set_threads(before);
}

TEST(Metrics, BytesThatAreNoTextCountAsOneCharacterEach) {
  EXPECT_EQ(code_points("a\xff\xc3z"), U"a\uFFFD\uFFFDz");
  EXPECT_EQ(chrf(Lines{"ab\xff"}, Lines{"ab\xff"}), 100);
}

TEST(BleuTokenizer, Names) {
  for (const char* text : {"13a", "intl", "char", "none"}) EXPECT_EQ(name(find_bleu_tokenizer(text).value()), text);
  EXPECT_FALSE(find_bleu_tokenizer("zh").has_value());
}

TEST(TextChecks, TokenizedLines) {
  EXPECT_EQ(tokenized_lines(Lines{"a .", "a.", " . ", ".", "a . b", "a .\r"}), 3);
  EXPECT_EQ(kManyTokenizedLines, 100);
}

TEST(TextChecks, HangulShare) {
  EXPECT_EQ(hangul_share(Lines{"가게 문을 닫는다. 2019!"}), 1);
  EXPECT_EQ(hangul_share(Lines{"the shop is closed", "日本"}), 0);
  EXPECT_EQ(hangul_share(Lines{"", "12"}), 0);
  EXPECT_DOUBLE_EQ(hangul_share(Lines{"가나 ab"}), 0.5);
}

}  // namespace
}  // namespace limpid
