#include "formats/gguf_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "formats/gguf.h"
#include "formats/gguf_tokenizer.h"
#include "text/bpe_tokenizer.h"
#include "text/byte_characters.h"
#include "text/small_text.h"
#include "text/word_piece_tokenizer.h"

namespace limpid {
namespace {

using testing::HasSubstr;

// Byte-level BPE with the word splits of a name.
std::shared_ptr<const Tokenizer> byte_level(const std::string& pre_tokenizer) {
  std::vector<std::string> pieces = {"<|endoftext|>"};
  for (const std::string& character : byte_characters()) pieces.push_back(character);
  BpeParts parts;
  for (const auto& [left, right] : {std::pair{"t", "h"}, {"th", "e"}, {"\u0120", "the"}, {"1", "2"}, {"12", "3"}}) {
    parts.merges.emplace_back(left, right);
    pieces.push_back(std::string(left) + right);
  }
  const std::vector<std::string> special = {"<|endoftext|>"};
  parts.vocabulary = std::make_shared<Vocabulary>(pieces, special, "[test]", SpecialIds{.end = 0, .begin = 0});
  parts.pre_tokenizer = PreTokenizer(named_pre_tokenizer(pre_tokenizer, "[test]"), "[test]");
  parts.whole_words = named_habits(pre_tokenizer, "[test]").whole_words;
  parts.decoder = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
  return std::make_shared<BpeTokenizer>(std::move(parts), "[test]");
}

class GgufTokenizers : public testing::Test {
 protected:
  Tokenizers written_and_read(const Tokenizers& tokenizers, int64_t vocabulary) const {
    GgufWriter writer;
    add_gguf_tokenizer(writer, tokenizers, vocabulary);
    writer.write(folder_ / "v.gguf");
    return gguf_tokenizers(GgufFile(folder_ / "v.gguf"));
  }
  static void expect_same(const Tokenizer& a, const Tokenizer& b) {
    for (const std::string text :
         {"the weather is nice", " the  123 theatre 12345", "", "날씨가 좋아요 é \U0001F600", "a\nb"}) {
      EXPECT_EQ(a.encode(text), b.encode(text)) << text;
      EXPECT_EQ(a.decode(a.encode(text)), b.decode(a.encode(text))) << text;
    }
    EXPECT_EQ(a.special().end, b.special().end);
    EXPECT_EQ(a.special().begin, b.special().begin);
    EXPECT_EQ(a.special().unknown, b.special().unknown);
  }
  TemporaryFolder folder_;
};

TEST_F(GgufTokenizers, SentencePieceComesBack) {
  for (const TokenizerKind kind : {TokenizerKind::bpe, TokenizerKind::unigram}) {
    Tokenizers tokenizers = train_tokenizers({.kind = kind, .vocab = 340, .special = {"<unk>", "<s>", "</s>"}},
                                             each_of(english()), each_of(korean()));
    tokenizers.before = {1};
    const Tokenizers back = written_and_read(tokenizers, tokenizers.source->size());
    expect_same(*tokenizers.source, *back.source);
    EXPECT_EQ(back.before, tokenizers.before);
    EXPECT_EQ(back.after, tokenizers.after);
  }
}

TEST_F(GgufTokenizers, ByteLevelComesBack) {
  for (const std::string name :
       {"gpt-2", "llama-bpe", "dbrx", "qwen2", "tekken", "gpt-4o", "default"}) {  // dbrx: no whole words
    SCOPED_TRACE(name);
    const auto tokenizer = byte_level(name);
    const Tokenizers back = written_and_read({tokenizer, tokenizer}, tokenizer->size() + 3);  // rows that nobody uses
    expect_same(*tokenizer, *back.source);
    EXPECT_EQ(back.source->size(), tokenizer->size() + 3);
    EXPECT_EQ(GgufFile(folder_ / "v.gguf").text("tokenizer.ggml.pre"), name);
  }
}

TEST_F(GgufTokenizers, NoneIsSaid) {
  GgufWriter writer;
  add_gguf_tokenizer(writer, {}, 32);
  writer.write(folder_ / "v.gguf");
  const GgufFile file(folder_ / "v.gguf");
  EXPECT_EQ(file.text("tokenizer.ggml.model"), "none");  // llama.cpp opens no file without this word
  EXPECT_FALSE(has_tokenizer(file));
  EXPECT_THROW(gguf_tokenizers(file), Error);
}

TEST_F(GgufTokenizers, OtherKindsAreRefused) {
  const Tokenizers words = train_tokenizers({.kind = TokenizerKind::words}, each_of(english()), each_of(korean()));
  try {
    written_and_read(words, words.source->size());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("SentencePiece, byte-level BPE and WordPiece"));
  }
}

// BERT's: beginnings of words get a mark in the file, what goes on loses its own.
TEST_F(GgufTokenizers, WordPieceComesBack) {
  const std::vector<std::string> special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  std::vector<std::string> pieces = special;
  for (const char* piece : {"[unused1]", "the", "weather", "is", "nice", "##s", "##a", "##tre", "a", "b", "1", "##2",
                            "##3", "날", "##씨", "##가", "e", "##"})
    pieces.emplace_back(piece);
  const auto vocabulary = std::make_shared<Vocabulary>(
      pieces, special, "[test]", SpecialIds{.pad = 0, .end = 3, .unknown = 1, .begin = 2, .mask = 4});
  const auto tokenizer = std::make_shared<WordPieceTokenizer>(bert_parts(vocabulary, {}), "[test]");
  const Tokenizers back = written_and_read({tokenizer, tokenizer, {2}, {3}}, 32);
  expect_same(*tokenizer, *back.source);
  EXPECT_EQ(back.source->special().mask, 4);
  EXPECT_EQ(back.before, std::vector<int32_t>{2});
  EXPECT_EQ(back.after, std::vector<int32_t>{3});
}

// Gemma's: BPE over characters with bytes to fall back on, no space put before a text.
TEST_F(GgufTokenizers, CharacterBpeComesBack) {
  const std::vector<std::string> special = {"<pad>", "<eos>", "<bos>", "<unk>"};
  std::vector<std::string> pieces = special;
  pieces.emplace_back("\n\n");
  for (int byte = 0; byte < 256; ++byte) pieces.push_back(byte_token(static_cast<uint8_t>(byte)));
  for (const char* piece : {"\u2581", "t", "h", "e", "a", "r", "i", "s", "n", "c", "w", "1", "2", "3", "\n"})
    pieces.emplace_back(piece);
  BpeParts parts;
  for (const auto& [left, right] :
       {std::pair{"t", "h"}, {"th", "e"}, {"\u2581", "the"}, {"e", "a"}, {"i", "s"}, {"\u2581", "\u2581"}}) {
    parts.merges.emplace_back(left, right);
    pieces.push_back(std::string(left) + right);
  }
  parts.vocabulary =
      std::make_shared<Vocabulary>(pieces, special, "[test]", SpecialIds{.pad = 0, .end = 1, .unknown = 3, .begin = 2});
  const nlohmann::json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
  parts.normalizer = Normalizer(replace, "[test]");
  parts.decoder = nlohmann::ordered_json::parse(
      R"({"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
          {"type": "ByteFallback"}, {"type": "Fuse"}]})");
  parts.added.push_back({4});
  parts.byte_fallback = parts.fuse_unknown = true;
  const auto tokenizer = std::make_shared<BpeTokenizer>(std::move(parts), "[test]");
  const Tokenizers back = written_and_read({tokenizer, tokenizer, {2}}, tokenizer->size());
  expect_same(*tokenizer, *back.source);
  for (const std::string text : {"is\n\nthe", "the\n\n\nis", "the earth"})
    EXPECT_EQ(back.source->encode(text), tokenizer->encode(text)) << text;
  EXPECT_EQ(back.before, std::vector<int32_t>{2});
}

// A model in several files, whichever of them is named.
TEST_F(GgufTokenizers, SplitFilesAreOne) {
  const std::array<float, 4> numbers = {1, 2, 3, 4};
  const auto* data = reinterpret_cast<const std::byte*>(numbers.data());
  const auto name = [](int i) { return fmt::format("m-{:05}-of-00003.gguf", i); };
  const auto write = [&](int i, uint32_t said) {
    GgufWriter writer;
    if (i == 1) writer.text("general.architecture", "llama");
    writer.integer("split.no", said);
    writer.integer("split.count", 3);
    writer.integer("split.tensors.count", 3);
    writer.tensor({.name = fmt::format("t{}", i), .shape = {1, i}, .data = data});
    writer.write(folder_ / name(i));
  };
  for (int i = 1; i <= 3; ++i) write(i, static_cast<uint32_t>(i - 1));
  for (int i = 1; i <= 3; ++i) {
    const GgufFile file(folder_ / name(i));
    EXPECT_EQ(file.text("general.architecture"), "llama");
    ASSERT_NE(file.tensor("t3"), nullptr);
    EXPECT_EQ(file.tensor("t3")->shape, (std::vector<int64_t>{1, 3}));
    EXPECT_EQ(std::memcmp(file.tensor("t2")->bytes.data(), data, 8), 0);
  }
  const auto error = [&](int i) {
    try {
      const GgufFile file(folder_ / name(i));
    } catch (const Error& caught) {
      return std::string(caught.what());
    }
    return std::string();
  };
  write(2, 2);
  EXPECT_THAT(error(1), HasSubstr("do they belong together"));
  std::filesystem::remove(folder_ / name(2));
  EXPECT_THAT(error(1), HasSubstr("m-00002-of-00003.gguf is not beside it"));
  EXPECT_THAT(error(3), HasSubstr("m-00002-of-00003.gguf is not beside it"));
  std::filesystem::rename(folder_ / name(1), folder_ / "renamed.gguf");
  try {
    const GgufFile file(folder_ / "renamed.gguf");
    FAIL() << "no error";
  } catch (const Error& caught) {
    EXPECT_THAT(caught.what(), HasSubstr("rename it"));
  }
}

TEST_F(GgufTokenizers, TypesThatGgufLacksAreRefused) {
  GgufWriter writer;
  const std::byte byte{};
  writer.tensor({.name = "x", .type = DType::q8, .shape = {1, 1}, .data = &byte});
  EXPECT_THROW(writer.write(folder_ / "x.gguf"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.gguf"));
}

}  // namespace
}  // namespace limpid
