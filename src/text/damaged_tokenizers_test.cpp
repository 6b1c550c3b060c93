// Tokenizer files that somebody damaged or made to do harm.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "base/temporary_folder.h"
#include "text/character_map.h"
#include "text/sentencepiece_info.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/small_text.h"
#include "text/tokenizer_training.h"

namespace limpid {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kText = "abc é ﬁ Ａ ½ ㈱ ｶﾞ 한글";

template <class Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string trained_model() {
  const Tokenizers tokenizers = train_tokenizers({.kind = TokenizerKind::unigram, .vocab = 300}, each_of(english()));
  return std::string(dynamic_cast<const StorableTokenizer&>(*tokenizers.source).sentencepiece_model());
}

TEST(DamagedTokenizers, BitsOfACharacterMapFlipped) {
  const std::string model = trained_model();
  const std::string map = sentencepiece_info(model, "x").character_map;
  ASSERT_GT(map.size(), 1000U);
  const size_t begin = model.find(map);
  Random random(5);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string flipped = model;
    // Mostly near the beginning, where every text passes.
    const uint64_t at = random.below(round % 2 == 0 ? 1024 : map.size());
    flipped[begin + at] = static_cast<char>(flipped[begin + at] ^ (1 << random.below(8)));
    refused += error_of([&] { SentencePieceTokenizer(flipped, "x").encode(kText); }) != "no error" ? 1 : 0;
  }
  EXPECT_GT(refused, 10);
  EXPECT_FALSE(SentencePieceTokenizer(model, "x").encode(kText).empty());
}

// A map of these units and a replacement.
std::string map_of(const std::vector<uint32_t>& units, const std::string& replacement) {
  const auto bytes = static_cast<uint32_t>(units.size() * sizeof(uint32_t));
  std::string map(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  map.append(reinterpret_cast<const char*>(units.data()), bytes);
  return map + replacement;
}

TEST(DamagedTokenizers, CharacterMapsThatLeadAstray) {
  const auto error = [](const std::string& map) { return error_of([&] { check_character_map(map, "x"); }); };
  EXPECT_THAT(error("abc"), HasSubstr("ends within its size"));
  EXPECT_THAT(error(std::string("\xff\xff\xff\x7f") + "abcdef"), HasSubstr("cut short"));
  std::vector<uint32_t> units(256, 0x80000000U);  // values, which no byte leads to
  units[0] = 256 << 10;                           // its children lie behind the last unit
  EXPECT_THAT(error(map_of(units, std::string("a\0", 2))), HasSubstr("beyond its end"));
  EXPECT_THAT(error(map_of(units, "a")), HasSubstr("ends within a replacement"));
  units[0] = 1 << 10;
  units['A' ^ 1] = 'A' | static_cast<uint32_t>('A') << 10 | 1U << 8;  // the child of A by A is A itself
  EXPECT_THAT(error(map_of(units, std::string("a\0", 2))), HasSubstr("circle"));
  units['A' ^ 1] = 'A' | 1U << 8 | 200U << 10;
  units['A' ^ 1 ^ 200] = 0x80000000U | 77;  // a replacement that is not there
  EXPECT_THAT(error(map_of(units, std::string("a\0", 2))), HasSubstr("beyond its end"));
  units['A' ^ 1 ^ 200] = 0x80000000U;
  EXPECT_EQ(error(map_of(units, std::string("a\0", 2))), "no error");
  EXPECT_THAT(error(map_of(units, std::string("\xff\0", 2))), HasSubstr("not UTF-8"));
}

TEST(DamagedTokenizers, PiecesThatAreNone) {
  const auto error = [](const std::string& piece, float score) {
    SentencePieceModel model;
    model.pieces = {{"<unk>", 0, SentencePiecePiece::unknown}, {"a", -1}, {piece, score}};
    return error_of([&] { SentencePieceTokenizer(sentencepiece_bytes(model), "x").encode("aaa"); });
  };
  EXPECT_EQ(error("aa", -2), "no error");
  EXPECT_EQ(error("", -2), "no error");  // an id that nobody uses
  EXPECT_THAT(error(std::string(100000, 'a'), -2), HasSubstr("100000 bytes"));
  EXPECT_THAT(error(std::string("a\0b", 3), -2), HasSubstr("no text"));
  EXPECT_THAT(error("\xff", -2), HasSubstr("no text"));
  EXPECT_THAT(error("aa", std::numeric_limits<float>::quiet_NaN()), HasSubstr("no number"));
}

class DamagedTokenizerJson : public testing::Test {
 protected:
  std::string error(const json& normalizer) const {
    write({{"normalizer", normalizer},
           {"pre_tokenizer", {{"type", "ByteLevel"}}},
           {"decoder", {{"type", "ByteLevel"}}},
           {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}}}, {"merges", json::array()}}}});
    return error_of([&] { load_tokenizers(folder_.path()).source->encode("aaaa"); });
  }
  void write(const json& file) const { write_text(folder_ / "tokenizer.json", file.dump()); }
  TemporaryFolder folder_;
};

TEST_F(DamagedTokenizerJson, ReplacementsThatDoubleAndDouble) {
  json steps = json::array();
  for (int i = 0; i < 30; ++i)
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}});
  EXPECT_THAT(error({{"type", "Sequence"}, {"normalizers", steps}}), HasSubstr("is tokenizer.json damaged?"));
  EXPECT_EQ(error({{"type", "Sequence"}, {"normalizers", {steps[0], steps[1]}}}), "no error");
}

TEST_F(DamagedTokenizerJson, SequencesInSequences) {
  json nested = {{"type", "NFC"}};
  for (int i = 0; i < 60; ++i) nested = {{"type", "Sequence"}, {"normalizers", json::array({nested})}};
  EXPECT_THAT(error(nested), HasSubstr("nested deeper"));
}

// A table of ids is made for as many tokens as there are, not for as many as one of them says.
TEST_F(DamagedTokenizerJson, IdsFarBeyondTheTokensAreRefused) {
  write({{"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
         {"model", {{"type", "WordLevel"}, {"vocab", {{"a", 0}, {"<unk>", 1 << 24}}}, {"unk_token", "<unk>"}}}});
  EXPECT_THAT(error_of([&] { load_tokenizers(folder_.path()); }), HasSubstr("ids lie between 0 and 65544"));
}

TEST_F(DamagedTokenizerJson, MessagesAreOurs) {
  write({{"model", {{"type", "BPE"}, {"vocab", "text"}, {"merges", 3}}}});
  EXPECT_THAT(error_of([&] { load_tokenizers(folder_.path()); }), Not(HasSubstr("json.exception")));
  write_text(folder_ / "tokenizer.json", "{\"a\": 1,,}");
  EXPECT_THAT(error_of([&] { load_tokenizers(folder_.path()); }), Not(HasSubstr("json.exception")));
}

TEST_F(DamagedTokenizerJson, SettingsOfAnotherTypeAreErrors) {
  write_text(folder_ / "vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n");
  write_text(folder_ / "tokenizer_config.json", R"({"do_lower_case": 3})");
  EXPECT_THAT(error_of([&] { load_tokenizers(folder_.path()); }), HasSubstr("type must be boolean, but is number"));
}

TEST_F(DamagedTokenizerJson, WordsHaveTheUnknownThatTheFileNames) {
  write({{"added_tokens", json::array()},
         {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
         {"model", {{"type", "WordLevel"}, {"vocab", {{"a", 0}, {"nothing", 1}}}, {"unk_token", "nothing"}}}});
  const auto tokenizer = load_tokenizers(folder_.path()).source;
  EXPECT_THAT(tokenizer->encode("a b a"), testing::ElementsAre(0, 1, 0));
}

TEST_F(DamagedTokenizerJson, OurOwnUnigramIsReadWithoutItsModelFile) {
  for (const bool lowercase : {false, true}) {
    const Tokenizers made =
        train_tokenizers({.kind = TokenizerKind::unigram, .vocab = 300, .lowercase = lowercase}, each_of(english()));
    save_tokenizers(folder_.path(), "gpt2", made);
    std::filesystem::remove(folder_ / "tokenizer.model");
    const Tokenizers again = load_tokenizers(folder_.path());
    for (const char* text : {"The teacher reads.", "Ａ ﬁ  two spaces", "한국어"})
      EXPECT_EQ(again.source->encode(text), made.source->encode(text)) << text;
  }
}

}  // namespace
}  // namespace limpid
