// The tokenizer files of other people's folders.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "text/character_map.h"
#include "text/sentencepiece_info.h"
#include "text/small_text.h"
#include "text/storable_tokenizer.h"
#include "text/tokenizer_training.h"

namespace limpid {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

class PublishedFiles : public testing::Test {
 protected:
  Tokenizers load() const { return load_tokenizers(folder_.path()); }
  std::string error() const {
    try {
      load();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  void write(const char* name, const std::string& text) const { write_text(folder_ / name, text); }
  // What is read can be written and read again.
  void expect_same_again(const Tokenizers& tokenizers, const std::string& text) const {
    const TemporaryFolder other;
    save_tokenizers(other.path(), "gpt2", tokenizers);
    const Tokenizers again = load_tokenizers(other.path());
    EXPECT_EQ(again.source->encode(text), tokenizers.source->encode(text));
    EXPECT_EQ(again.source->size(), tokenizers.source->size());
  }
  TemporaryFolder folder_;
};

json bpe_json() {
  return {
      {"added_tokens",
       {{{"id", 5}, {"content", "<|begin|>"}, {"special", true}}, {{"id", 6}, {"content", "<x>"}, {"special", false}}}},
      {"normalizer", {{"type", "NFC"}}},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", {{{"SpecialToken", {{"id", "<|begin|>"}}}}, {{"Sequence", {{"id", "A"}}}}}}}},
      {"decoder", {{"type", "ByteLevel"}}},
      {"model",
       {{"type", "BPE"},
        {"vocab", {{"a", 0}, {"b", 1}, {"\u0120", 2}, {"ab", 3}, {"\u0120ab", 4}}},
        {"merges", {"a b", "\u0120 ab"}}}}};
}

TEST_F(PublishedFiles, ByteLevelTokenizerJson) {
  write("tokenizer.json", bpe_json().dump());
  write("tokenizer_config.json", R"({"bos_token": {"content": "<|begin|>"}, "eos_token": "<|begin|>"})");
  const Tokenizers tokenizers = load();
  EXPECT_THAT(tokenizers.source->encode("ab ab<x>b"), ElementsAre(3, 4, 6, 1));
  EXPECT_THAT(tokenizers.before, ElementsAre(5));
  EXPECT_THAT(tokenizers.after, ElementsAre());
  EXPECT_EQ(tokenizers.source->special().begin, 5);
  EXPECT_EQ(tokenizers.source->special().end, 5);
  EXPECT_EQ(load_tokenizer_file(folder_ / "tokenizer.json").source->encode("ab").size(), 1u);
  expect_same_again(tokenizers, "ab ab");
}

TEST_F(PublishedFiles, MergesAsPairsAndModelsWithoutAType) {
  json file = bpe_json();
  file["model"].erase("type");
  file["model"]["merges"] = json::array({json::array({"a", "b"}), json::array({"\u0120", "ab"})});
  write("tokenizer.json", file.dump());
  EXPECT_THAT(load().source->encode("ab ab"), ElementsAre(3, 4));
}

TEST_F(PublishedFiles, WrongTokenizerJsonIsAnError) {
  const auto expect = [&](const char* pointer, const json& value, const char* message) {
    json file = bpe_json();
    file[json::json_pointer(pointer)] = value;
    write("tokenizer.json", file.dump());
    EXPECT_THAT(error(), HasSubstr(message)) << pointer;
  };
  expect("/model/merges/0", "ab", "not two tokens");
  expect("/model/merges/0", "a x", "joins");
  expect("/model/end_of_word_suffix", "</w>", "end_of_word_suffix");
  expect("/model/vocab/a", 1, "the id 1");
  expect("/model/vocab/a", "one", "is not laid out");
  expect("/added_tokens/0/id", -1, "ids lie between");
  expect("/normalizer/type", "Mystery", "normalizer Mystery");
  expect("/pre_tokenizer/type", "Mystery", "pre-tokenizer Mystery");
  expect("/decoder/type", "CTC", "decoder CTC");
  expect("/post_processor/single/0/SpecialToken/id", "<none>", "which has no id");
  expect("/model", "none", "is not laid out");
}

TEST_F(PublishedFiles, VocabularyAndMerges) {
  write("vocab.json", R"({"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4, "<|endoftext|>": 5})");
  EXPECT_THAT(error(), HasSubstr("has no tokenizer"));
  write("merges.txt", "#version: 0.2\na b\nĠ ab\n");
  const Tokenizers tokenizers = load();
  EXPECT_THAT(tokenizers.source->encode("ab ab"), ElementsAre(3, 4));
  EXPECT_EQ(tokenizers.source->special().end, 5);
  EXPECT_EQ(tokenizers.source->decode(std::vector<int32_t>{3, 4, 5}), "ab ab");
  expect_same_again(tokenizers, "ab ab");
  write("merges.txt", "a b\nnonsense\n");
  EXPECT_THAT(error(), HasSubstr("not two tokens"));
}

// OPT begins a text with </s>, RoBERTa and BART read it between <s> and </s>, GPT-2 as it is.
TEST_F(PublishedFiles, VocabularyAndMergesOfOtherFamilies) {
  write("vocab.json", R"({"<s>": 0, "<pad>": 1, "</s>": 2, "a": 3, "b": 4, "Ġ": 5})");
  write("merges.txt", "#version: 0.2\n");
  EXPECT_TRUE(load().stated);
  EXPECT_THAT(load().before, ElementsAre());
  write("tokenizer_config.json",
        R"({"tokenizer_class": "GPT2Tokenizer", "add_bos_token": true, "bos_token": {"content": "</s>"}})");
  EXPECT_THAT(load().before, ElementsAre(2));
  EXPECT_THAT(load().after, ElementsAre());
  write("tokenizer_config.json", R"({"add_bos_token": true})");
  write("special_tokens_map.json", R"({"bos_token": "</s>", "eos_token": "</s>"})");
  EXPECT_THAT(load().before, ElementsAre(2));
  std::filesystem::remove(folder_ / "special_tokens_map.json");
  for (const char* name : {"RobertaTokenizer", "BartTokenizer"}) {
    write("tokenizer_config.json", json{{"tokenizer_class", name}}.dump());
    EXPECT_THAT(load().before, ElementsAre(0)) << name;
    EXPECT_THAT(load().after, ElementsAre(2)) << name;
  }
  std::filesystem::remove(folder_ / "tokenizer_config.json");
  write("config.json", R"({"model_type": "roberta"})");
  EXPECT_THAT(load().before, ElementsAre(0));
}

TEST_F(PublishedFiles, TokensThatWereAddedLater) {
  write("vocab.json", R"({"a": 0, "b": 1, "Ġ": 2, "<|endoftext|>": 3})");
  write("merges.txt", "#version: 0.2\n");
  write("added_tokens.json", R"({"<tool>": 4, "<pad>": 5})");
  const Tokenizers tokenizers = load();
  EXPECT_EQ(tokenizers.source->size(), 6);
  EXPECT_THAT(tokenizers.source->encode("a<tool>b"), ElementsAre(0, 4, 1));
  EXPECT_EQ(tokenizers.source->special().pad, 5);
  write("added_tokens.json", R"(["<tool>"])");
  EXPECT_THAT(error(), HasSubstr("added_tokens.json"));
}

// Classes that make their template anew from tokenizer_config.json, and one that does not.
TEST_F(PublishedFiles, TheConfigOfSomeClassesSaysWhatBeginsAText) {
  json file = bpe_json();
  for (const char* name : {"LlamaTokenizerFast", "GemmaTokenizer", "CohereTokenizerFast", "Qwen2Tokenizer"}) {
    const bool heard = name != std::string("Qwen2Tokenizer");
    for (const bool wanted : {true, false}) {
      const json config = {{"tokenizer_class", name},
                           {"bos_token", "<|begin|>"},
                           {"eos_token", "<|begin|>"},
                           {"add_bos_token", wanted},
                           {"add_eos_token", wanted}};
      write("tokenizer_config.json", config.dump());
      write("tokenizer.json", file.dump());
      EXPECT_EQ(load().before.size(), !heard || wanted ? 1u : 0u) << name;
      EXPECT_EQ(load().after.size(), heard && wanted ? 1u : 0u) << name;
    }
  }
  file["post_processor"] = nullptr;
  write("tokenizer.json", file.dump());
  write("tokenizer_config.json", R"({"bos_token": "<|begin|>"})");
  EXPECT_THAT(load().before, ElementsAre());
  EXPECT_TRUE(load().stated);
}

// What stands around a text goes with the tokenizer into another folder.
TEST_F(PublishedFiles, TheTemplateIsWrittenAgain) {
  for (const bool begins : {true, false}) {
    json file = bpe_json();
    if (!begins) file["post_processor"] = nullptr;
    write("tokenizer.json", file.dump());
    const TemporaryFolder other;
    save_tokenizers(other.path(), "llama", load());
    EXPECT_EQ(load_tokenizers(other.path()).before.size(), begins ? 1u : 0u);
  }
}

TEST_F(PublishedFiles, WordPiece) {
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##able\nable\n!\n");
  Tokenizers tokenizers = load();
  EXPECT_THAT(tokenizers.source->encode("Unable unables able!"), ElementsAre(5, 6, 1, 7, 8));
  EXPECT_THAT(tokenizers.source->encode("[MASK]").size(), 3);  // never what somebody wrote
  EXPECT_EQ(tokenizers.source->decode(std::vector<int32_t>{2, 5, 6, 7, 8, 3}), "unable able!");
  EXPECT_THAT(tokenizers.before, ElementsAre(2));
  EXPECT_THAT(tokenizers.after, ElementsAre(3));
  EXPECT_EQ(tokenizers.source->special().mask, 4);
  EXPECT_THAT(tokenizers.source->encode(std::string(101, 'u')), ElementsAre(1));
  expect_same_again(tokenizers, "Unable able!");
  write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_THAT(load().source->encode("Unable unable"), ElementsAre(1, 5, 6));
}

TEST_F(PublishedFiles, UnigramWithoutItsModelFile) {
  json vocabulary = json::array();
  for (const auto& [piece, score] : std::vector<std::pair<std::string, double>>{
           {"<unk>", 0}, {"</s>", 0}, {"\u2581", -3}, {"a", -4}, {"b", -4}, {"\u2581ab", -2}, {"ba", -3}})
    vocabulary.push_back(json::array({piece, score}));
  const json file = {{"added_tokens", {{{"id", 1}, {"content", "</s>"}, {"special", true}}}},
                     {"normalizer", nullptr},
                     {"pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"add_prefix_space", true}}},
                     {"post_processor",
                      {{"type", "TemplateProcessing"},
                       {"single", {{{"Sequence", {{"id", "A"}}}}, {{"SpecialToken", {{"id", "</s>"}}}}}}}},
                     {"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}}}};
  write("tokenizer.json", file.dump());
  const Tokenizers tokenizers = load();
  EXPECT_THAT(tokenizers.source->encode("ab ba"), ElementsAre(5, 2, 6));
  EXPECT_THAT(tokenizers.source->encode("ax"), ElementsAre(2, 3, 0));
  EXPECT_EQ(tokenizers.source->decode(std::vector<int32_t>{5, 2, 6, 1}), "ab ba");
  EXPECT_THAT(tokenizers.after, ElementsAre(1));
  json more = file;
  more["added_tokens"].push_back({{"id", 7}, {"content", "<x>"}, {"special", false}});
  write("tokenizer.json", more.dump());
  EXPECT_THAT(load().source->encode("ab<x>ba"), ElementsAre(5, 7, 2, 6));
  EXPECT_EQ(load().source->decode(std::vector<int32_t>{5, 7, 6}), "ab<x>ba");
}

// As NLLB's: BPE over characters, normalised by a compiled map.
TEST_F(PublishedFiles, BpeWithACompiledMap) {
  const auto trained = train_tokenizers({.vocab = 420}, each_of(english()), each_of(korean()));
  const auto* own = dynamic_cast<const StorableTokenizer*>(trained.source.get());
  const auto info = sentencepiece_info(std::string(own->sentencepiece_model()), "x");
  ASSERT_FALSE(info.character_map.empty());
  const CharacterMap map(info.character_map, "x");
  EXPECT_EQ(map.apply("\uFF41\uFB01 \u2460"), "afi 1");
  EXPECT_EQ(map.apply("e\u0301"), "\u00e9");  // a cluster at once
  EXPECT_EQ(map.apply("plain 날씨"), "plain 날씨");
  EXPECT_EQ(map.apply(""), "");
  const json normalizer = {{"type", "Precompiled"}, {"precompiled_charsmap", base64(info.character_map)}};
  json file = bpe_json();
  file["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers", {normalizer, {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}}}}};
  file["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
  file["decoder"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
  file["model"]["vocab"] = {{"a", 0}, {"b", 1}, {"\u2581", 2}, {"ab", 3}, {"\u2581ab", 4}};
  file["model"]["merges"] = {"a b", "\u2581 ab"};
  write("tokenizer.json", file.dump());
  EXPECT_THAT(load().source->encode("\uFF41b  ab"), ElementsAre(4, 4));
  EXPECT_EQ(load().source->decode(std::vector<int32_t>{4, 4}), "ab ab");
}

}  // namespace
}  // namespace limpid
