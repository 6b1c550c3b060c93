#include "text/piece_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/error.h"
#include "text/sentencepiece_model.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/small_text.h"

namespace limpid {
namespace {

using testing::ElementsAre;

// A model of five pieces with these probabilities, which need not add up to one.
std::shared_ptr<const Tokenizer> unigram() {
  const auto piece = [](const char* text, double p) {
    return SentencePiecePiece{.text = text, .score = static_cast<float>(std::log(p))};
  };
  SentencePieceModel model{.bpe = false};
  model.pieces = {{.text = "<unk>", .type = SentencePiecePiece::unknown},
                  {.text = "</s>", .type = SentencePiecePiece::control},
                  piece("a", 0.2),
                  piece("b", 0.1),
                  piece("ab", 0.08),
                  piece("bb", 0.03),
                  piece("가", 0.1)};
  return std::make_shared<SentencePieceTokenizer>(sentencepiece_bytes(model), "test");
}

std::map<std::vector<int32_t>, int> counts_of(double alpha, int draws) {
  const PieceSampler sampler(unigram(), alpha);
  Random random(7);
  std::map<std::vector<int32_t>, int> counts;
  const std::vector<int32_t> ids = {4, 3, 6};  // ab b 가
  for (int i = 0; i < draws; ++i) ++counts[sampler.sample(ids, random)];
  return counts;
}

// a b b: .2 × .1 × .1 = .002, ab b: .08 × .1 = .008, a bb: .2 × .03 = .006
TEST(PieceSampler, DrawsSegmentationsAsTheModelHasThem) {
  constexpr int kDraws = 8000;
  const auto counts = counts_of(1, kDraws);
  ASSERT_EQ(counts.size(), 3u);
  const auto share = [&](std::vector<int32_t> ids) { return static_cast<double>(counts.at(ids)) / kDraws; };
  EXPECT_NEAR(share({2, 3, 3, 6}), 2.0 / 16, 0.02);  // five standard deviations of a share of 8000
  EXPECT_NEAR(share({4, 3, 6}), 8.0 / 16, 0.03);
  EXPECT_NEAR(share({2, 5, 6}), 6.0 / 16, 0.03);
}

TEST(PieceSampler, AlphaSharpens) {
  const auto even = counts_of(0, 6000);
  for (const auto& [ids, count] : even) EXPECT_NEAR(count / 6000.0, 1.0 / 3, 0.03);
  EXPECT_EQ(even.size(), 3u);
  const auto sharp = counts_of(200, 100);
  EXPECT_THAT(sharp, ElementsAre(testing::Pair(std::vector<int32_t>{4, 3, 6}, 100)));
}

TEST(PieceSampler, OtherIdsStayAndTheSameKeyDrawsTheSame) {
  const PieceSampler sampler(unigram(), 0.5);
  for (uint64_t key = 0; key < 20; ++key) {
    Random one(key), other(key);
    const std::vector<int32_t> ids = {1, 4, 3, 0, 6, 1};
    const std::vector<int32_t> drawn = sampler.sample(ids, one);
    EXPECT_EQ(drawn, sampler.sample(ids, other));
    EXPECT_EQ(drawn.front(), 1);
    EXPECT_THAT(std::vector<int32_t>(drawn.end() - 3, drawn.end()), ElementsAre(0, 6, 1));
  }
}

TEST(PieceSampler, TheTextStaysWhatItIs) {
  const Tokenizers both =
      train_tokenizers({.kind = TokenizerKind::unigram, .vocab = 420}, each_of(english()), each_of(korean()));
  const PieceSampler sampler(both.source, 0.2);
  Random random(1);
  int others = 0;
  for (const auto& lines : {english(), korean()})
    for (const std::string& line : lines) {
      const std::vector<int32_t> ids = both.source->encode(line), drawn = sampler.sample(ids, random);
      EXPECT_EQ(both.source->decode(drawn), line);
      others += drawn != ids;
    }
  EXPECT_GT(others, 20);
}

TEST(PieceSampler, OnlyAUnigramModelKnows) {
  const Tokenizers bpe = train_tokenizers({.kind = TokenizerKind::bpe, .vocab = 420}, each_of(english()));
  EXPECT_THROW(PieceSampler(bpe.source, 0.2), Error);
  const Tokenizers words = train_tokenizers({.kind = TokenizerKind::words}, each_of(english()));
  EXPECT_THROW(PieceSampler(words.source, 0.2), Error);
}

}  // namespace
}  // namespace limpid
