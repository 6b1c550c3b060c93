#include "inference/model_text.h"

#include <gtest/gtest.h>

#include "inference/byte_tokenizer.h"
#include "inference/texts.h"
#include "models/small_models.h"

namespace limpid {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t kBegin = ByteTokenizer::kBegin, kEnd = ByteTokenizer::kEnd, kMask = ByteTokenizer::kMask;

LoadedModel loaded(const std::string& name, Ids before = {}, Ids after = {}, bool has_end = true) {
  nlohmann::ordered_json json = small_configs().at(name);
  json["vocab_size"] = 260;
  json["eos_token_id"] = has_end ? nlohmann::ordered_json(kEnd) : nlohmann::ordered_json();
  LoadedModel result;
  result.model = make_model(parse_config(json));
  const auto tokenizer = std::make_shared<ByteTokenizer>();
  result.tokenizers = {tokenizer, tokenizer, std::move(before), std::move(after)};
  return result;
}

TEST(ModelText, EveryFamilyReadsWithItsSpecialTokens) {
  EXPECT_EQ(input_ids(loaded("gpt2"), "ab"), (Ids{kBegin, 'a', 'b'}));
  EXPECT_EQ(input_ids(loaded("bert"), "ab"), (Ids{kBegin, 'a', 'b', kEnd}));
  EXPECT_EQ(input_ids(loaded("marian"), "ab"), (Ids{'a', 'b', kEnd}));
  EXPECT_EQ(target_ids(loaded("marian"), "ab"), (Ids{'a', 'b', kEnd}));
  EXPECT_EQ(input_ids(loaded("gpt2"), ""), Ids{kBegin});
}

TEST(ModelText, WhatTheFilesSayGoesFirst) {
  EXPECT_EQ(input_ids(loaded("llama", {7}), "ab"), (Ids{7, 'a', 'b'}));
  EXPECT_EQ(input_ids(loaded("llama", {7}, {8}), "ab"), (Ids{7, 'a', 'b'}));  // the end is still to be written
  EXPECT_EQ(input_ids(loaded("bert", {7}, {8}), "ab"), (Ids{7, 'a', 'b', 8}));
}

// The end of a text is no part of what a language model goes on from, but of what a vector is made of.
TEST(ModelText, AVectorIsMadeOfTheWholeText) {
  EXPECT_EQ(sentence_ids(loaded("llama", {7}, {8}), "ab"), (Ids{7, 'a', 'b', 8}));
  EXPECT_EQ(sentence_ids(loaded("gpt2"), "ab"), (Ids{kBegin, 'a', 'b'}));
  EXPECT_EQ(sentence_ids(loaded("bert", {7}, {8}), "ab"), (Ids{7, 'a', 'b', 8}));
  LoadedModel model = loaded("gpt2", {}, {kEnd});
  std::unique_ptr<Model> weights = make_model(model.config());
  Parameters parameters([&](const WeightVisitor& visitor) { weights->visit_parameters(visitor); });
  parameters.initialize(1);
  model.model = std::move(weights);
  const std::vector<std::string> texts = {"ab"};
  const std::vector<Ids> whole = {{kBegin, 'a', 'b', kEnd}};
  EXPECT_EQ(embed(model, texts, {.pooling = Pooling::last}), embed(*model.model, whole, {.pooling = Pooling::last}));
}

TEST(ModelText, OnlyTextsWithUnknownTokensAreRefused) {
  LoadedModel model = loaded("bert");
  nlohmann::ordered_json json = model.config().json;
  json["vocab_size"] = 'b';
  json["eos_token_id"] = nullptr;
  model.model = make_model(parse_config(json));
  model.tokenizers.stated = true;
  EXPECT_EQ(input_ids(model, "aa"), (Ids{'a', 'a'}));
  EXPECT_THROW(input_ids(model, "ab"), Error);
  EXPECT_THROW(masked_ids(model, "[MASK]"), Error);
}

TEST(ModelText, TheCustomOfAFamilyCanBeStated) {
  LoadedModel model = loaded("gpt2");
  state_special_tokens(model);
  EXPECT_EQ(model.tokenizers.before, Ids{kBegin});
  EXPECT_TRUE(model.tokenizers.after.empty());
  model = loaded("bert");
  state_special_tokens(model);
  EXPECT_EQ(model.tokenizers.before, Ids{kBegin});
  EXPECT_EQ(model.tokenizers.after, Ids{kEnd});
  model = loaded("gpt2");
  model.tokenizers.stated = true;
  state_special_tokens(model);
  EXPECT_TRUE(model.tokenizers.before.empty());
}

TEST(ModelText, FilesMaySayThatNothingStandsAroundAText) {
  for (const auto& [name, usual] : {std::pair{"marian", Ids{'a', 'b', kEnd}},
                                    {"bert", Ids{kBegin, 'a', 'b', kEnd}},
                                    {"gpt2", Ids{kBegin, 'a', 'b'}},
                                    {"llama", Ids{kBegin, 'a', 'b'}}}) {
    LoadedModel model = loaded(name);
    EXPECT_EQ(input_ids(model, "ab"), usual);
    model.tokenizers.stated = true;
    EXPECT_EQ(input_ids(model, "ab"), (Ids{'a', 'b'}));
    EXPECT_EQ(special_count(model).before + special_count(model).after, 0);
  }
  LoadedModel model = loaded("gpt2");
  model.tokenizers.stated = true;
  EXPECT_EQ(input_ids(model, ""), Ids{kBegin});  // something has to be gone on from
}

TEST(ModelText, GenerationConfigMayNameTheEndInstead) {
  LoadedModel model = loaded("gpt2", {}, {}, false);
  ASSERT_FALSE(model.config().eos_token.has_value());
  EXPECT_THROW(end_token(model), Error);
  model.generation.rules.ends = {17, 9};
  EXPECT_EQ(end_token(model), 17);
  EXPECT_EQ(target_ids(model, "ab"), (Ids{'a', 'b', 17}));
}

TEST(ModelText, WhatTheFilesSayEndsATextEndsACompletion) {
  LoadedModel model = loaded("gpt2");
  std::unique_ptr<Model> weights = make_model(model.config());
  Parameters parameters([&](const WeightVisitor& visitor) { weights->visit_parameters(visitor); });
  parameters.initialize(1);
  model.model = std::move(weights);
  const RequestOptions greedy{.temperature = 0, .max_tokens = 5};
  const Completion whole = complete(model, "ab", greedy);
  ASSERT_EQ(whole.tokens.size(), 5u);
  model.generation.rules.ends = {whole.tokens[0].id};
  const Completion ended = complete(model, "ab", greedy);
  EXPECT_EQ(ended.tokens.size(), 0u);
  EXPECT_EQ(ended.finish_reason, FinishReason::end_token);
  // A rule of the caller's own leaves the others as they are.
  RequestOptions own = greedy;
  own.rules.suppressed = {whole.tokens[0].id};
  EXPECT_EQ(complete(model, "ab", own).finish_reason, FinishReason::max_tokens);
}

TEST(ModelText, MasksAreFoundUnderTheirNames) {
  EXPECT_EQ(masked_ids(loaded("bert"), "a[MASK]b<mask>"), (Ids{kBegin, 'a', kMask, 'b', kMask, kEnd}));
  EXPECT_EQ(masked_ids(loaded("bert"), "[MASK]"), (Ids{kBegin, kMask, kEnd}));
  EXPECT_EQ(masked_ids(loaded("bert"), "ab"), (Ids{kBegin, 'a', 'b', kEnd}));
}

}  // namespace
}  // namespace limpid
