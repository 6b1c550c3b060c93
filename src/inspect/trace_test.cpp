// Causal tracing where the right result is known.

#include "inspect/trace.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "inspect/small_session.h"

namespace limpid {
namespace {

class TraceOf : public testing::TestWithParam<std::string> {};

TEST_P(TraceOf, TheLastLayerAtTheAnswerGivesAllBack) {
  const SmallSession small(GetParam());
  const Example example = small.example();
  const Trace trace =
      causal_trace(small.session.model(), example, {.subject = {0, 1}, .samples = 3, .position = 2, .answer = 5});
  EXPECT_GT(std::abs(trace.clean - trace.corrupted), 1e-5);
  EXPECT_GT(trace.deviation, 0);
  const TraceMap& stream = trace.maps[0];
  const auto last = static_cast<int64_t>(stream.taps.size()) - 1;
  if (!small.session.config().recurrent()) {  // there the context reaches the output beside the state
    EXPECT_NEAR(stream.probability[last * trace.positions + 2], trace.clean, 1e-6);
  }
  EXPECT_NEAR(stream.probability[last * trace.positions + 3], trace.corrupted, 1e-6);  // the future
  for (double p : stream.probability) EXPECT_TRUE(p >= 0 && p <= 1);
}

TEST_P(TraceOf, NoNoiseIsNoCorruption) {
  const SmallSession small(GetParam());
  const Trace trace = causal_trace(small.session.model(), small.example(),
                                   {.subject = {0}, .noise = 0, .samples = 2, .position = 1, .answer = 5});
  EXPECT_NEAR(trace.corrupted, trace.clean, 1e-7);
  for (const TraceMap& map : trace.maps)
    for (double p : map.probability) EXPECT_NEAR(p, trace.clean, 1e-6);
}

TEST_P(TraceOf, AnotherTextGivesItsOwnProbability) {
  const SmallSession small(GetParam());
  const Example example = small.example(), other = small.session.example(small.other_text());
  const Trace there = causal_trace(small.session.model(), example, {.other = &other, .position = 2, .answer = 5});
  const Trace back = causal_trace(small.session.model(), other, {.other = &example, .position = 2, .answer = 5});
  EXPECT_NEAR(there.corrupted, back.clean, 1e-6);
  EXPECT_NEAR(there.clean, back.corrupted, 1e-6);
  EXPECT_EQ(there.deviation, 0);
}

INSTANTIATE_TEST_SUITE_P(Families, TraceOf, testing::Values("gpt2", "llama", "marian", "gru_attention"),
                         config_of_test);

TEST(Trace, AWindowOfAllLayersGivesBackWhatTheirVectorsCarry) {
  const SmallSession small("gpt2");
  const Trace trace = causal_trace(small.session.model(), small.example(),
                                   {.subject = {0}, .samples = 2, .position = 0, .answer = 5, .window = 9});
  const TraceMap& stream = trace.maps[0];
  for (size_t layer = 0; layer < stream.taps.size(); ++layer)
    EXPECT_NEAR(stream.probability[layer * static_cast<size_t>(trace.positions)], trace.clean, 1e-6);
}

TEST(Trace, TheEncodersSide) {
  const SmallSession small("marian");
  const Trace trace = causal_trace(small.session.model(), small.example(),
                                   {.side = "encoder", .subject = {1}, .samples = 2, .position = 1, .answer = 5});
  EXPECT_EQ(trace.positions, 6);  // five letters and the end
  EXPECT_EQ(trace.maps.size(), 3u);
  EXPECT_GT(std::abs(trace.clean - trace.corrupted), 1e-7);
}

TEST(Trace, SaysWhatIsMissing) {
  const SmallSession small("gpt2");
  const Example example = small.example(), longer = small.session.example({"abcdefgh", ""});
  EXPECT_THROW(causal_trace(small.session.model(), example, {.answer = 5}), Error);
  EXPECT_THROW(causal_trace(small.session.model(), example, {.subject = {17}, .answer = 5}), Error);
  EXPECT_THROW(causal_trace(small.session.model(), example, {.other = &longer, .answer = 5}), Error);
  EXPECT_THROW(causal_trace(small.session.model(), example, {.subject = {0}, .answer = 99}), Error);
}

}  // namespace
}  // namespace limpid
