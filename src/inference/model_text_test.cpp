#include "inference/model_text.h"

#include <gtest/gtest.h>

#include "inference/byte_tokenizer.h"
#include "models/small_models.h"

namespace limpid {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t kBegin = ByteTokenizer::kBegin, kEnd = ByteTokenizer::kEnd, kMask = ByteTokenizer::kMask;

LoadedModel loaded(const std::string& name, Ids before = {}, Ids after = {}) {
  nlohmann::ordered_json json = small_configs().at(name);
  json["vocab_size"] = 260;
  json["eos_token_id"] = kEnd;
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

TEST(ModelText, FilesMaySayThatNothingStandsAroundAText) {
  for (const auto& [name, usual] : {std::pair{"marian", Ids{'a', 'b', kEnd}}, {"bert", Ids{kBegin, 'a', 'b', kEnd}}}) {
    LoadedModel model = loaded(name);
    EXPECT_EQ(input_ids(model, "ab"), usual);
    model.tokenizers.stated = true;
    EXPECT_EQ(input_ids(model, "ab"), (Ids{'a', 'b'}));
    EXPECT_EQ(special_count(model).before + special_count(model).after, 0);
  }
  LoadedModel model = loaded("gpt2");
  model.tokenizers.stated = true;
  EXPECT_EQ(input_ids(model, "ab"), (Ids{kBegin, 'a', 'b'}));  // a language model's text begins all the same
}

TEST(ModelText, MasksAreFoundUnderTheirNames) {
  EXPECT_EQ(masked_ids(loaded("bert"), "a[MASK]b<mask>"), (Ids{kBegin, 'a', kMask, 'b', kMask, kEnd}));
  EXPECT_EQ(masked_ids(loaded("bert"), "[MASK]"), (Ids{kBegin, kMask, kEnd}));
  EXPECT_EQ(masked_ids(loaded("bert"), "ab"), (Ids{kBegin, 'a', 'b', kEnd}));
}

}  // namespace
}  // namespace limpid
