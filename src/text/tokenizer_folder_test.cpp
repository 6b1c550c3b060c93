#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "text/small_text.h"
#include "text/tokenizer_training.h"

namespace limpid {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class TokenizerFolder : public testing::Test {
 protected:
  json read(const char* name) const { return json::parse(read_text(folder_ / name)); }
  bool has(const char* name) const { return std::filesystem::exists(folder_ / name); }
  std::string error() const {
    try {
      load_tokenizers(folder_.path());
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  // Trains, saves, loads, and compares on text seen and never seen.
  Tokenizers saved(const TokenizerOptions& options, const std::string& model_type) {
    const Tokenizers made = train_tokenizers(options, each_of(english()), each_of(korean()));
    save_tokenizers(folder_.path(), model_type, made);
    Tokenizers read = load_tokenizers(folder_.path());
    same(*made.source, *read.source);
    same(*made.target, *read.target);
    EXPECT_EQ(made.source == made.target, read.source == read.target);
    return read;
  }
  static void same(const Tokenizer& a, const Tokenizer& b) {
    ASSERT_EQ(a.size(), b.size());
    for (int32_t id = 0; id < a.size(); ++id) EXPECT_EQ(a.piece(id), b.piece(id));
    EXPECT_EQ(a.special().pad, b.special().pad);
    EXPECT_EQ(a.special().end, b.special().end);
    EXPECT_EQ(a.special().unknown, b.special().unknown);
    EXPECT_EQ(a.special().begin, b.special().begin);
    EXPECT_EQ(a.special().mask, b.special().mask);
    std::vector<std::string> texts = {"The WEATHER, 뷁 😀\n  Ω", "</s> <pad>", ""};
    for (const auto& lines : {english(), korean()}) texts.insert(texts.end(), lines.begin(), lines.end());
    for (const std::string& text : texts) {
      EXPECT_EQ(a.encode(text), b.encode(text)) << text;
      EXPECT_EQ(a.decode(a.encode(text)), b.decode(b.encode(text))) << text;
    }
  }

  TemporaryFolder folder_;
};

TEST_F(TokenizerFolder, Marian) {
  const Tokenizers tokenizers = saved({.vocab = 420}, "marian");
  EXPECT_EQ(read_text(folder_ / "source.spm"), read_text(folder_ / "target.spm"));
  EXPECT_EQ(read("vocab.json").at("</s>"), 1);
  EXPECT_EQ(read("vocab.json").size(), static_cast<size_t>(tokenizers.source->size()));
  EXPECT_EQ(read("tokenizer_config.json").at("tokenizer_class"), "MarianTokenizer");
  EXPECT_FALSE(has("tokenizer.json"));
}

TEST_F(TokenizerFolder, TwoSegmentations) {
  for (const TokenizerKind kind : {TokenizerKind::bpe, TokenizerKind::unigram})
    saved({.kind = kind, .vocab = 330, .joint = false}, "marian");
  EXPECT_NE(read_text(folder_ / "source.spm"), read_text(folder_ / "target.spm"));
}

TEST_F(TokenizerFolder, Subwords) {
  for (const TokenizerKind kind : {TokenizerKind::bpe, TokenizerKind::unigram})
    saved({.kind = kind, .vocab = 420, .lowercase = true, .special = {"<unk>", "<s>", "</s>", "<mask>"}}, "llama");
  EXPECT_TRUE(has("tokenizer.model"));
  const json file = read("tokenizer.json");
  EXPECT_EQ(file.at("model").at("type"), "Unigram");
  EXPECT_EQ(file.at("added_tokens").size(), 4u);
  const json parts = file.at("post_processor").at("single");  // a language model's text begins
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].at("SpecialToken").at("id"), "<s>");
  EXPECT_EQ(read("tokenizer_config.json").at("bos_token"), "<s>");
}

TEST_F(TokenizerFolder, CharactersAndWords) {
  for (const TokenizerKind kind : {TokenizerKind::characters, TokenizerKind::words})
    for (const bool lowercase : {false, true}) {
      saved({.kind = kind, .lowercase = lowercase}, "marian");
      EXPECT_EQ(read("tokenizer.json").at("model").at("type"), "WordLevel");
      EXPECT_EQ(read("tokenizer_config.json").at("tokenizer_class"), "PreTrainedTokenizerFast");
      EXPECT_FALSE(has("vocab.json"));
    }
}

TEST_F(TokenizerFolder, TheTemplateIsTheModels) {
  const TokenizerOptions options = {.kind = TokenizerKind::words, .special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"}};
  saved(options, "bert");
  const json parts = read("tokenizer.json").at("post_processor").at("single");
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].at("SpecialToken").at("id"), "[CLS]");
  EXPECT_EQ(parts[2].at("SpecialToken").at("id"), "[SEP]");
  EXPECT_EQ(read("tokenizer_config.json").at("cls_token"), "[CLS]");
  saved({.kind = TokenizerKind::words}, "pegasus");
  EXPECT_EQ(read("tokenizer.json").at("post_processor").at("single").size(), 2u);
}

TEST_F(TokenizerFolder, TheFilesSayWhatStandsAroundAText) {
  const TokenizerOptions options = {.kind = TokenizerKind::words};
  Tokenizers tokenizers = saved(options, "pegasus");
  const int32_t end = tokenizers.source->special().end;
  EXPECT_TRUE(tokenizers.stated);
  EXPECT_EQ(tokenizers.after, std::vector<int32_t>{end});
  tokenizers = saved(options, "t5");  // a template that adds nothing
  EXPECT_TRUE(tokenizers.stated);
  EXPECT_TRUE(tokenizers.after.empty());
  for (const auto& [model_type, kind] : {std::pair{"pegasus", TokenizerKind::words}, {"marian", TokenizerKind::bpe}})
    for (const bool wanted : {false, true}) {  // tokenizer_config.json has the last word
      saved({.kind = kind, .vocab = 420}, model_type);
      json config = read("tokenizer_config.json");
      config["add_eos_token"] = wanted;
      write_text(folder_ / "tokenizer_config.json", config.dump());
      tokenizers = load_tokenizers(folder_.path());
      EXPECT_TRUE(tokenizers.stated);
      EXPECT_EQ(tokenizers.after.size(), wanted ? 1u : 0u) << model_type;
    }
}

// Published files contradict each other; the library that they are written for heeds tokenizer_config.json then.
TEST_F(TokenizerFolder, TokenizerConfigOverrulesTokenizerJson) {
  const json tokens = {{"a", 0}, {"b", 1}, {"\u0120", 2}, {"\u0120a", 3}};
  write_text(folder_ / "tokenizer.json", json{{"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
                                              {"decoder", {{"type", "ByteLevel"}}},
                                              {"model", {{"type", "BPE"}, {"vocab", tokens}, {"merges", {"\u0120 a"}}}}}
                                             .dump());
  EXPECT_EQ(load_tokenizers(folder_.path()).source->encode("a"), std::vector<int32_t>{0});
  write_text(folder_ / "tokenizer_config.json", R"({"add_prefix_space": true})");
  EXPECT_EQ(load_tokenizers(folder_.path()).source->encode("a"), std::vector<int32_t>{3});

  const json words = {{"[UNK]", 0}, {"A", 1}, {"a", 2}, {"\u00c4", 3}, {"\u00e4", 4}};
  write_text(folder_ / "tokenizer.json",
             json{{"normalizer", {{"type", "BertNormalizer"}, {"lowercase", true}, {"strip_accents", nullptr}}},
                  {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                  {"model", {{"type", "WordPiece"}, {"unk_token", "[UNK]"}, {"vocab", words}}}}
                 .dump());
  const auto ids = [&](const char* config) {
    write_text(folder_ / "tokenizer_config.json", config);
    return load_tokenizers(folder_.path()).source->encode("A \u00c4");
  };
  EXPECT_EQ(ids("{}"), (std::vector<int32_t>{2, 2}));
  EXPECT_EQ(ids(R"({"do_lower_case": false, "tokenizer_class": "BertTokenizer"})"), (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(ids(R"({"strip_accents": false})"), (std::vector<int32_t>{2, 4}));
  EXPECT_EQ(ids(R"({"do_lower_case": false, "tokenizer_class": "PreTrainedTokenizerFast"})"),
            (std::vector<int32_t>{2, 2}));
  std::filesystem::remove(folder_ / "tokenizer.json");
  write_text(folder_ / "vocab.txt", "[UNK]\nA\na\n\u00c4\n\u00e4\n");
  EXPECT_EQ(ids(R"({"strip_accents": false})"), (std::vector<int32_t>{2, 4}));
  EXPECT_EQ(ids(R"({"do_lower_case": false})"), (std::vector<int32_t>{1, 3}));
}

TEST_F(TokenizerFolder, WhatAnotherTokenizerLeftIsRemoved) {
  saved({.vocab = 420}, "marian");
  saved({.vocab = 420}, "pegasus");
  EXPECT_FALSE(has("source.spm") || has("vocab.json"));
  saved({.kind = TokenizerKind::words}, "pegasus");
  EXPECT_FALSE(has("tokenizer.model"));
}

TEST_F(TokenizerFolder, IdsOfATableNeedNotBeTheModels) {
  saved({.vocab = 420}, "marian");
  const auto before = load_tokenizers(folder_.path()).source;
  json table = read("vocab.json");
  const int64_t size = before->size();
  for (auto& id : table) id = size - 1 - id.get<int64_t>();
  write_text(folder_ / "vocab.json", table.dump());
  const auto after = load_tokenizers(folder_.path()).source;
  EXPECT_EQ(after->special().pad, size - 1);
  std::vector<int32_t> expected = before->encode("the weather 날씨");
  for (int32_t& id : expected) id = static_cast<int32_t>(size) - 1 - id;
  EXPECT_EQ(after->encode("the weather 날씨"), expected);
  EXPECT_EQ(after->decode(expected), "the weather 날씨");
}

// A folder as Pegasus was published: ids of the SentencePiece model stand 103 higher, padding and the end before them.
TEST_F(TokenizerFolder, PegasusHasAnOffset) {
  saved({.vocab = 420}, "pegasus");
  const std::string model = read_text(folder_ / "tokenizer.model");
  const auto own = load_tokenizer_file(folder_ / "tokenizer.model").source;
  for (const char* name : {"tokenizer.model", "tokenizer.json", "tokenizer_config.json"})
    std::filesystem::remove(folder_ / name);
  write_text(folder_ / "spiece.model", model);
  for (const char* config : {"tokenizer_config.json", "config.json"}) {
    const std::string class_or_type = config[0] == 't' ? "tokenizer_class" : "model_type";
    const std::string name = config[0] == 't' ? "PegasusTokenizer" : "pegasus";
    write_text(folder_ / config, json{{class_or_type, name}}.dump());
    const Tokenizers pegasus = load_tokenizers(folder_.path());
    EXPECT_EQ(pegasus.source->size(), own->size() + 103);
    EXPECT_EQ(pegasus.source->special().pad, 0);
    EXPECT_EQ(pegasus.source->special().end, 1);
    EXPECT_EQ(pegasus.source->special().unknown, own->special().unknown + 103);
    EXPECT_EQ(pegasus.source->piece(2), "<mask_1>");
    EXPECT_EQ(pegasus.source->piece(104), "<unk_102>");
    EXPECT_EQ(pegasus.after, std::vector<int32_t>{1});
    std::vector<int32_t> expected = own->encode("the weather 날씨");
    for (int32_t& id : expected) id += 103;
    EXPECT_EQ(pegasus.source->encode("the weather 날씨"), expected);
    expected.insert(expected.begin(), {0, 4});
    expected.push_back(1);
    EXPECT_EQ(pegasus.target->decode(expected), "the weather 날씨");
    std::filesystem::remove(folder_ / config);
  }
  EXPECT_EQ(load_tokenizers(folder_.path()).source->size(), own->size());  // nobody says that it is Pegasus
}

// Folders with sentencepiece.bpe.model alone: ids as fairseq gave them.
TEST_F(TokenizerFolder, FairseqHasItsOwnFirstIds) {
  saved({.kind = TokenizerKind::bpe, .vocab = 420, .special = {"<unk>", "<s>", "</s>"}}, "llama");
  const std::string model = read_text(folder_ / "tokenizer.model");
  const auto own = load_tokenizer_file(folder_ / "tokenizer.model").source;
  ASSERT_EQ(own->piece(2), "</s>");
  for (const char* name : {"tokenizer.model", "tokenizer.json", "tokenizer_config.json"})
    std::filesystem::remove(folder_ / name);
  write_text(folder_ / "sentencepiece.bpe.model", model);
  EXPECT_THAT(error(), HasSubstr("Limpid reads XLMRoberta"));
  const auto open = [&](const json& config) {
    write_text(folder_ / "tokenizer_config.json", config.dump());
    return load_tokenizers(folder_.path());
  };
  const auto moved = [&](int32_t by) {
    std::vector<int32_t> ids = own->encode("the weather 날씨");
    for (int32_t& id : ids) id += by;
    return ids;
  };
  using Ids = std::vector<int32_t>;
  const auto size = static_cast<int32_t>(own->size());
  const Tokenizers xlmr = open({{"tokenizer_class", "XLMRobertaTokenizer"}});
  EXPECT_EQ(xlmr.source->encode("the weather 날씨"), moved(1));
  EXPECT_EQ(xlmr.source->decode(moved(1)), "the weather 날씨");
  EXPECT_EQ(xlmr.source->special().unknown, 3);
  EXPECT_EQ(xlmr.source->special().pad, 1);
  EXPECT_EQ(xlmr.source->special().mask, size + 1);
  EXPECT_EQ(xlmr.before, Ids{0});
  EXPECT_EQ(xlmr.after, Ids{2});
  const Tokenizers camembert = open({{"tokenizer_class", "CamembertTokenizer"}});
  EXPECT_EQ(camembert.source->encode("the weather 날씨"), moved(4));
  EXPECT_EQ(camembert.before, Ids{5});
  EXPECT_EQ(camembert.after, Ids{6});
  EXPECT_EQ(camembert.source->special().mask, size + 4);
  const Tokenizers mbart = open({{"tokenizer_class", "MBartTokenizer"}, {"src_lang", "ar_AR"}});
  EXPECT_EQ(mbart.source->size(), size + 1 + 25 + 1);
  EXPECT_EQ(mbart.before, Ids{});
  EXPECT_EQ(mbart.after, (Ids{2, size + 1}));
  EXPECT_EQ(mbart.source->piece(size + 1 + 24), "zh_CN");
  const Tokenizers fifty = open({{"tokenizer_class", "MBart50Tokenizer"}});
  EXPECT_EQ(fifty.source->size(), size + 1 + 52 + 1);
  EXPECT_EQ(fifty.before, Ids{size + 1 + 3});
  EXPECT_EQ(fifty.source->piece(fifty.before[0]), "en_XX");
  EXPECT_EQ(fifty.after, Ids{2});
  const Tokenizers nllb =
      open({{"tokenizer_class", "NllbTokenizer"}, {"additional_special_tokens", {"ace_Arab", "eng_Latn", "kor_Hang"}}});
  EXPECT_EQ(nllb.before, Ids{size + 2});
  EXPECT_EQ(nllb.source->special().mask, size + 4);
  EXPECT_THROW(open({{"tokenizer_class", "NllbTokenizer"}}), Error);
  EXPECT_THROW(open({{"tokenizer_class", "MBartTokenizer"}, {"src_lang", "xx_YY"}}), Error);
}

TEST_F(TokenizerFolder, M2mHasATableAndLanguagesBehindIt) {
  saved({.kind = TokenizerKind::bpe, .vocab = 420, .special = {"<unk>", "<s>", "</s>"}}, "llama");
  const std::string model = read_text(folder_ / "tokenizer.model");
  const auto own = load_tokenizer_file(folder_ / "tokenizer.model").source;
  for (const char* name : {"tokenizer.model", "tokenizer.json", "tokenizer_config.json"})
    std::filesystem::remove(folder_ / name);
  write_text(folder_ / "sentencepiece.bpe.model", model);
  json table = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}};
  std::vector<int32_t> expected = own->encode("the weather 날씨");
  for (int32_t id = 3; id < own->size(); ++id) table[own->piece(id)] = own->size() + 3 - id;
  for (int32_t& id : expected) id = static_cast<int32_t>(own->size()) + 3 - id;
  write_text(folder_ / "vocab.json", table.dump());
  const Tokenizers m2m = load_tokenizers(folder_.path());
  const auto size = static_cast<int32_t>(table.size());
  EXPECT_EQ(m2m.source->encode("the weather 날씨"), expected);
  EXPECT_EQ(m2m.source->decode(expected), "the weather 날씨");
  EXPECT_EQ(m2m.source->piece(size), "__af__");
  EXPECT_EQ(m2m.source->size(), size + 100);
  EXPECT_EQ(m2m.source->piece(m2m.before.at(0)), "__en__");
  EXPECT_EQ(m2m.after, std::vector<int32_t>{2});
  write_text(folder_ / "tokenizer_config.json", R"({"src_lang": "ko", "language_codes": "m2m100"})");
  EXPECT_EQ(m2m.source->piece(load_tokenizers(folder_.path()).before.at(0)), "__ko__");
}

TEST_F(TokenizerFolder, T5HasAHundredTokensMore) {
  saved({.kind = TokenizerKind::unigram, .vocab = 330, .special = {"<pad>", "</s>", "<unk>"}}, "llama");
  const std::string model = read_text(folder_ / "tokenizer.model");
  const auto own = load_tokenizer_file(folder_ / "tokenizer.model").source;
  for (const char* name : {"tokenizer.model", "tokenizer.json", "tokenizer_config.json"})
    std::filesystem::remove(folder_ / name);
  write_text(folder_ / "spiece.model", model);
  write_text(folder_ / "config.json", R"({"model_type": "t5"})");
  const Tokenizers t5 = load_tokenizers(folder_.path());
  EXPECT_EQ(t5.source->size(), own->size() + 100);
  EXPECT_EQ(t5.source->piece(static_cast<int32_t>(own->size())), "<extra_id_99>");
  EXPECT_EQ(t5.source->piece(static_cast<int32_t>(own->size()) + 99), "<extra_id_0>");
  EXPECT_EQ(t5.source->encode("the weather 날씨"), own->encode("the weather 날씨"));
  EXPECT_EQ(t5.after, std::vector<int32_t>{1});
  write_text(folder_ / "tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 0})");
  EXPECT_EQ(load_tokenizers(folder_.path()).source->size(), own->size());
}

// An older folder of a Llama that somebody gave further tokens.
TEST_F(TokenizerFolder, SentencePieceWithTokensThatWereAddedLater) {
  saved({.kind = TokenizerKind::bpe, .vocab = 420, .special = {"<unk>", "<s>", "</s>"}}, "llama");
  std::filesystem::remove(folder_ / "tokenizer.json");
  const Tokenizers before = load_tokenizers(folder_.path());
  const auto size = static_cast<int32_t>(before.source->size());
  write_text(folder_ / "added_tokens.json", json{{"<tool>", size}, {"[PAD]", size + 1}}.dump());
  const Tokenizers tokenizers = load_tokenizers(folder_.path());
  EXPECT_EQ(tokenizers.source->size(), size + 2);
  const std::vector<int32_t> ids = tokenizers.source->encode("the<tool>");
  EXPECT_EQ(ids.back(), size);
  EXPECT_EQ(tokenizers.source->encode("the weather"), before.source->encode("the weather"));
  for (const bool wanted : {true, false}) {
    const json config = {{"tokenizer_class", "LlamaTokenizer"}, {"add_bos_token", wanted}};
    write_text(folder_ / "tokenizer_config.json", config.dump());
    EXPECT_EQ(load_tokenizers(folder_.path()).before.size(), wanted ? 1u : 0u);
    EXPECT_TRUE(load_tokenizers(folder_.path()).stated);
  }
}

TEST_F(TokenizerFolder, BrokenFilesAreErrors) {
  EXPECT_THAT(error(), HasSubstr("has no tokenizer"));
  write_text(folder_ / "tokenizer.json", "{");
  EXPECT_THAT(error(), HasSubstr("tokenizer.json:1:2: syntax error"));
  write_text(folder_ / "tokenizer.json", R"({"model": {"type": "Mystery"}, "pre_tokenizer": null})");
  EXPECT_THAT(error(), HasSubstr("of the kind Mystery"));
  write_text(folder_ / "tokenizer.json", R"({"model": {"type": "WordLevel"}, "pre_tokenizer": {"type": "Split"}})");
  EXPECT_THAT(error(), HasSubstr("is not laid out"));
  write_text(folder_ / "tokenizer.model", "nonsense");
  EXPECT_THAT(error(), HasSubstr("not a whole SentencePiece model"));
  write_text(folder_ / "tokenizer.model", "");
  EXPECT_THAT(error(), HasSubstr("not a whole SentencePiece model"));
}

TEST_F(TokenizerFolder, BrokenTablesAreErrors) {
  saved({.vocab = 420}, "marian");
  const std::string model = read_text(folder_ / "source.spm");
  json table = read("vocab.json");
  table["the"] = 1;
  write_text(folder_ / "vocab.json", table.dump());
  EXPECT_THAT(error(), HasSubstr("the id 1"));
  write_text(folder_ / "vocab.json", R"({"<unk>": 0, "</s>": -1})");
  EXPECT_THAT(error(), HasSubstr("ids lie between"));
  write_text(folder_ / "vocab.json", R"({"a": 0})");
  EXPECT_THAT(error(), HasSubstr("lacks"));
  write_text(folder_ / "vocab.json", R"({"<unk>": 0, "</s>": 1})");
  for (size_t bytes = 1; bytes < model.size(); bytes += model.size() / 5) {
    write_text(folder_ / "source.spm", std::string_view(model).substr(0, bytes));
    EXPECT_NE(error(), "no error") << bytes;
  }
}

}  // namespace
}  // namespace limpid
