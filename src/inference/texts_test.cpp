#include "inference/texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>

#include "inference/byte_tokenizer.h"
#include "inference/results_json.h"
#include "models/small_models.h"

namespace limpid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kTexts = {"ab", "cde"};

LoadedModel small(const std::string& name, std::shared_ptr<const Tokenizer> tokenizer) {
  nlohmann::ordered_json json = small_configs().at(name);
  json["vocab_size"] = 260;
  json["eos_token_id"] = ByteTokenizer::kEnd;
  SmallModel model = small_model(json);
  model.model->keep(std::shared_ptr<Parameters>(std::move(model.parameters)));
  LoadedModel result;
  result.model = std::move(model.model);
  result.tokenizers.source = result.tokenizers.target = std::move(tokenizer);
  return result;
}

template <class Body>
Error error_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return Error("none", ErrorKind::internal);
}

TEST(Texts, WithoutTokenizersTheyAreAnError) {
  const LoadedModel writer = small("gpt2", nullptr), translator = small("marian", nullptr);
  for (const Error& error :
       {error_of([&] { complete(writer, "ab"); }), error_of([&] { embed(writer, kTexts); }),
        error_of([&] { score(writer, kTexts); }), error_of([&] { translate(translator, kTexts); }),
        error_of([&] { score(translator, kTexts, kTexts); }), error_of([&] { target_ids(translator, "ab"); })}) {
    EXPECT_THAT(error.what(), HasSubstr("without tokenizers"));
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
  }
}

class Failing : public ByteTokenizer {
 public:
  std::vector<int32_t> encode(std::string_view text) const override {
    if (text == "memory") throw std::bad_alloc();
    if (text == "length") throw std::length_error("vector");
    return nlohmann::json::object().at("no such key");
  }
};

TEST(Texts, WhatTheStandardLibraryThrowsIsAnError) {
  const LoadedModel model = small("gpt2", std::make_shared<Failing>());
  for (const std::string text : {"memory", "length"}) {
    const std::vector<std::string> texts = {text};
    EXPECT_EQ(error_of([&] { complete(model, text); }).kind(), ErrorKind::out_of_memory) << text;
    EXPECT_EQ(error_of([&] { embed(model, texts); }).kind(), ErrorKind::out_of_memory) << text;
    EXPECT_EQ(error_of([&] { score(model, texts); }).kind(), ErrorKind::out_of_memory) << text;
  }
  EXPECT_THAT(error_of([&] { complete(model, "json"); }).what(), HasSubstr("no such key"));
}

TEST(Texts, WhatACallbackThrowsPassesThrough) {
  const LoadedModel model = small("gpt2", std::make_shared<ByteTokenizer>());
  struct Own {};
  EXPECT_THROW(complete(model, "ab", {}, [](std::string_view) -> bool { throw Own(); }), Own);
}

TEST(RequestOptions, EachFieldIsTheRequestsElseTheFilesElseTheUsual) {
  GenerationConfig config;
  config.temperature = 0.3;
  config.top_k = 7;
  config.max_tokens = 9;
  const CompletionOptions options =
      merged_completion({.temperature = 0.5, .seed = 3}, config, 2, {.sampling = usual_sampling(), .max_tokens = 100});
  EXPECT_EQ(options.sampling.temperature, 0.5);   // of the request
  EXPECT_EQ(options.sampling.top_k, 7);           // of the files
  EXPECT_EQ(options.sampling.top_p, kUsualTopP);  // of nobody
  EXPECT_EQ(options.max_tokens, 9);
  EXPECT_EQ(options.seed, 3u);
  EXPECT_EQ(merged_completion({.max_tokens = 4}, config, 2, {}).max_tokens, 4);
}

TEST(RequestOptions, OneRuleOfACallerLeavesTheOthersOfTheFiles) {
  GenerationConfig config;
  config.rules.bad_words = {{1, 2}};
  config.rules.ends = {3, 4};
  config.rules.suppressed = {5};
  config.rules.least_tokens = 2;
  RequestOptions request;
  request.rules.suppressed = {6};
  request.no_repeat_ngram = 3;
  for (const TokenRules& rules :
       {merged_completion(request, config, 1, {}).rules, merged_translation(request, config, {}).generate.rules}) {
    EXPECT_THAT(rules.suppressed, ElementsAre(6));
    EXPECT_THAT(rules.bad_words, ElementsAre(ElementsAre(1, 2)));
    EXPECT_THAT(rules.ends, ElementsAre(3, 4));
    EXPECT_EQ(rules.least_tokens, 2);
    EXPECT_EQ(rules.no_repeat_ngram, 3);
  }
}

TEST(RequestOptions, TranslationsTakeBeamsLengthsAndSamplingFromTheFiles) {
  GenerationConfig config;
  config.beams = 2;
  config.length_penalty = 0.5;
  config.max_length = 12;  // with the token that starts a decoder
  config.repetition_penalty = 1.5;
  const TextTranslatorOptions searched = merged_translation({}, config, {});
  EXPECT_EQ(searched.generate.beam, 2);
  EXPECT_EQ(searched.generate.length_penalty, 0.5);
  EXPECT_EQ(searched.generate.max_tokens, 11);
  EXPECT_EQ(searched.generate.repetition_penalty, 1.5);
  EXPECT_FALSE(searched.sample);
  EXPECT_EQ(merged_translation({.n_best = 3}, config, {}).generate.beam, 3);  // no fewer beams than texts
  EXPECT_EQ(merged_translation({.beams = 5}, config, {}).generate.beam, 5);
  config.do_sample = true;
  EXPECT_TRUE(merged_translation({}, config, {}).sample);
  EXPECT_FALSE(merged_translation({.beams = 5}, config, {}).sample);  // who names beams wants a search
  EXPECT_FALSE(merged_translation({.sample = false}, config, {}).sample);
}

TEST(RequestOptions, FilesThatSayNotToSampleTakeTheLikeliestUnlessAsked) {
  GenerationConfig config;
  config.do_sample = false;
  EXPECT_EQ(merged_completion({}, config, 1, {.sampling = usual_sampling()}).sampling.temperature, 0);
  EXPECT_EQ(merged_completion({.temperature = 0.7}, config, 1, {}).sampling.temperature, 0.7);
  EXPECT_EQ(merged_translation({.sample = true}, config, {}).drawing.sampling.temperature, 1);
}

// What a library's function writes is what the same request to the engine writes.
TEST(Texts, AreWrittenAsTheModelsFilesSay) {
  LoadedModel model = small("gpt2", std::make_shared<ByteTokenizer>());
  model.generation.temperature = 0;
  model.generation.max_tokens = 5;
  const Completion plain = complete(model, "ab");
  ASSERT_EQ(plain.tokens.size(), 5u);
  EXPECT_EQ(complete(model, "ab", {.max_tokens = 2}).tokens.size(), 2u);
  model.generation.rules.suppressed = {plain.tokens[0].id};
  const Completion ruled = complete(model, "ab", {.max_tokens = 1});
  EXPECT_NE(ruled.tokens.at(0).id, plain.tokens[0].id);
  LoadedModel translator = small("marian", std::make_shared<ByteTokenizer>());
  translator.generation.rules.forced_first = 'q';
  translator.generation.max_tokens = 1;
  translator.generation.beams = 1;
  EXPECT_THAT(translate(translator, kTexts), ElementsAre("q", "q"));
}

TEST(ResultsJson, TellsHowATextEnded) {
  const ByteTokenizer tokenizer;
  Completion completion{.tokens = {{.id = 'x', .log_probability = -1}}, .text = "x"};
  const std::string prompt = "ab";
  const auto json = completion_json(tokenizer, {prompt, 7, 1, 3}, completion, true, false);
  EXPECT_EQ(json["text"], "abx");
  EXPECT_EQ(json["finish_reason"], "max tokens");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["tokens"][0]["token"], "x");
  EXPECT_FALSE(json.contains("stop_string"));
  completion.finish_reason = FinishReason::stop_string;
  completion.stop_string = "y";
  EXPECT_EQ(completion_json(tokenizer, {prompt, 7, 1, 3}, completion, false, false)["stop_string"], "y");
  Config config;
  config.labels = {"no", "yes"};
  config.json = nlohmann::ordered_json::object();
  EXPECT_EQ(labels_json("t", {0.25, 0.75}, config).dump(),
            R"({"text":"t","label":"yes","probabilities":{"yes":0.75,"no":0.25}})");
  config.json["problem_type"] = "regression";
  EXPECT_EQ(labels_json("t", {0.25, 1.75}, config).dump(),
            R"({"text":"t","label":"yes","scores":{"yes":1.75,"no":0.25}})");
  EXPECT_EQ(one_line("\xff"), "\"\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace limpid
