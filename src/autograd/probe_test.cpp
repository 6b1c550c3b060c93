#include "autograd/probe.h"

#include <gtest/gtest.h>

namespace limpid {
namespace {

TEST(Probe, PatternsMatchWholeNames) {
  EXPECT_TRUE(matches_pattern("decoder.*.cross_attn.pattern", "decoder.3.cross_attn.pattern"));
  EXPECT_TRUE(matches_pattern("*", "logits"));
  EXPECT_TRUE(matches_pattern("*.ffn.*", "blocks.0.ffn.pre"));
  EXPECT_TRUE(matches_pattern("a*b*c", "axxbyybzc"));
  EXPECT_FALSE(matches_pattern("decoder.*.pattern", "decoder.3.pattern.x"));
  EXPECT_FALSE(matches_pattern("logits", "xlogits"));
  EXPECT_FALSE(matches_pattern("", "logits"));
}

TEST(Probe, PairsOfEachSequenceAndHead) {
  const Sequences queries({2, 1}), keys({3, 2});
  Tensor value(Arena(), 1, 2 * (2 * 3 + 1 * 2));
  for (int64_t i = 0; i < value.cols(); ++i) value.values()(0, i) = static_cast<real>(i);
  const Tap tap{"scores", value, {&queries, &keys, 2}};
  EXPECT_EQ(tap.pairs(0, 1)(1, 2), 11);  // the last of the first sequence
  EXPECT_EQ(tap.pairs(1, 1)(0, 0), 14);
  EXPECT_EQ(tap.pairs(1, 1).rows, 1);
  EXPECT_EQ(tap.pairs(1, 1).cols, 2);
}

}  // namespace
}  // namespace limpid
