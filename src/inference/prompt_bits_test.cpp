// The numbers of a text depend neither on how its prompt was cut while it was read nor on a beginning that was taken
// from another text.

#include <gtest/gtest.h>

#include <cstring>

#include "base/parallel.h"
#include "formats/quantize.h"
#include "inference/decoder_state.h"
#include "models/small_models.h"

namespace limpid {
namespace {

using Ids = std::vector<int32_t>;

std::vector<real> numbers(const Tensor& tensor) {
  std::vector<real> result;
  for (int64_t i = 0; i < tensor.rows(); ++i)
    result.insert(result.end(), tensor.values().row(i), tensor.values().row(i) + tensor.cols());
  return result;
}

bool same_bits(const std::vector<real>& a, const std::vector<real>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(real)) == 0;
}

// A family in its own numbers or in 8 bits, with so many threads.
struct PromptCase {
  std::string family;
  bool quantized = false;
  int threads = 1;
};

class PromptBits : public testing::TestWithParam<PromptCase> {
 protected:
  void SetUp() override {
    const auto& [family, quantized, threads] = GetParam();
    set_threads(threads);
    nlohmann::ordered_json json = small_configs().at(family);
    if (family != "bloom") json[json.contains("n_positions") ? "n_positions" : "max_position_embeddings"] = 128;
    if (quantized && json.contains("n_embd")) json["n_embd"] = 96;
    if (quantized && !json.contains("n_embd")) json.merge_patch({{"hidden_size", 64}, {"intermediate_size", 96}});
    small_ = small_model(json);
    if (quantized) quantized_ = quantize(*small_.model, {.bits = 8});
    Random random(7);
    for (int64_t i = 0; i < 90; ++i) text_.push_back(static_cast<int32_t>(random.below(23)));
  }
  void TearDown() override { set_threads(0); }

  std::unique_ptr<DecoderState> state() const { return make_decoder_state(model()); }
  const Model& model() const { return quantized_.model ? *quantized_.model : *small_.model; }
  Ids beginning(int64_t tokens) const { return {text_.begin(), text_.begin() + tokens}; }

  // Scores after the text and after three more tokens.
  static std::vector<real> go_on(DecoderState& state, const Ids& first) {
    std::vector<real> all = numbers(state.step(first));
    for (const int32_t id : {3, 5, 4}) {
      const auto more = numbers(state.step(Ids(first.size(), id)));
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }
  std::vector<real> read_whole(const Ids& text) const {
    const auto alone = state();
    return go_on(*alone, alone->add(std::vector<Ids>{text}));
  }

  SmallModel small_;
  QuantizedModel quantized_;
  Ids text_;
};

TEST_P(PromptBits, AreTheSameHoweverAPromptIsCut) {
  for (const int64_t length : {1, 2, 9, 64, 65, 67, 90}) {
    const auto whole = read_whole(beginning(length));
    for (const int64_t part : {1, 2, 3, 4, 5, 6, 7, 8, 16, 31, 64}) {
      const auto cut = state();
      cut->begin(std::vector<Ids>{beginning(length)}, {});
      Ids first;
      while (first.empty()) first = cut->read_on(part);
      EXPECT_EQ(cut->unread(), 0);
      EXPECT_TRUE(same_bits(whole, go_on(*cut, first))) << length << " tokens in parts of " << part;
    }
  }
}

TEST_P(PromptBits, AreTheSameAfterABeginningOfAnotherText) {
  for (int64_t tail = 1; tail <= 8; ++tail)
    for (const int64_t common : {8, 33, 64}) {
      const auto whole = read_whole(beginning(common + tail));
      const auto sharing = state();
      Ids other = beginning(common);  // it goes on differently, and has written some tokens before
      Ids next = sharing->add(std::vector<Ids>{other});
      sharing->step(next);
      sharing->step(Ids{9});
      sharing->cache_prefix(0);
      sharing->reorder(Ids{});
      const Ids first = sharing->add(std::vector<Ids>{beginning(common + tail)});
      EXPECT_GE(sharing->reused_tokens(), common - 1);
      EXPECT_TRUE(same_bits(whole, go_on(*sharing, first))) << common << " in common, then " << tail;
    }
}

TEST_P(PromptBits, AreTheSameWhileOthersAreRead) {
  const auto whole = read_whole(beginning(40));
  const auto busy = state();
  const Ids first = busy->add(std::vector<Ids>{beginning(40)});
  Ids other = text_;
  std::reverse(other.begin(), other.end());
  busy->begin(std::vector<Ids>{other}, {});
  std::vector<real> all;
  Ids ids = first;
  for (const int32_t next : {3, 5, 4, 0}) {
    EXPECT_TRUE(busy->read_on(7).empty());
    const auto scores = numbers(busy->step(ids));
    all.insert(all.end(), scores.begin(), scores.end());
    ids = {next};
  }
  EXPECT_TRUE(same_bits(whole, all));
  busy->drop_unread(0);
  EXPECT_EQ(busy->rows(), 1);
}

// How much of a prompt a step can afford: every token costs something, and later ones attend to more.
TEST_P(PromptBits, LaterTokensOfAPromptCostMore) {
  const auto reading = state();
  reading->begin(std::vector<Ids>{text_, beginning(20)}, {});
  EXPECT_EQ(reading->tokens_within(10.5, {.token = 1}), 10);
  EXPECT_EQ(reading->tokens_within(1e9, {.token = 1}), 89 + 19);
  EXPECT_EQ(reading->tokens_within(89 + 5.5 + 7, {.token = 1, .text = 7}), 89 + 5);
  EXPECT_EQ(reading->tokens_within(55, {.key = 1}), 10) << "1 + 2 + … + 10 keys";
  EXPECT_TRUE(reading->read_on(40).empty());
  EXPECT_EQ(reading->prompt_tokens_read(), 40);
  reading->finish_reading();
  EXPECT_EQ(reading->tokens_within(41 + 42 + 43, {.key = 1}), 3);
  EXPECT_EQ(reading->keys_attended(), 40 * 41 / 2);
  while (reading->unread() > 0) reading->read_on(40);
  reading->finish_reading();
  EXPECT_EQ(reading->keys_of_step(), 90 + 20);
}

INSTANTIATE_TEST_SUITE_P(LanguageModels, PromptBits,
                         testing::Values(PromptCase{"gpt2"}, PromptCase{"llama"}, PromptCase{"qwen3"},
                                         PromptCase{"gemma2"}, PromptCase{"bloom"}, PromptCase{"mixtral"},
                                         PromptCase{"gpt2", false, 3}, PromptCase{"gpt2", true},
                                         PromptCase{"llama", true}, PromptCase{"llama", true, 3}),
                         [](const testing::TestParamInfo<PromptCase>& test) {
                           return fmt::format("{}{}_{}_threads", test.param.family, test.param.quantized ? "_q8" : "",
                                              test.param.threads);
                         });

}  // namespace
}  // namespace limpid
