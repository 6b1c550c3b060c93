// The tokenizer files of other people's folders.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"
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
}

}  // namespace
}  // namespace limpid
