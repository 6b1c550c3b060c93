#include "formats/gguf_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "formats/gguf.h"
#include "formats/gguf_tokenizer.h"
#include "text/bpe_tokenizer.h"
#include "text/byte_characters.h"
#include "text/small_text.h"

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
  for (const std::string name : {"gpt-2", "llama-bpe", "qwen2"}) {
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

TEST_F(GgufTokenizers, TypesThatGgufLacksAreRefused) {
  GgufWriter writer;
  const std::byte byte{};
  writer.tensor({.name = "x", .type = DType::q8, .shape = {1, 1}, .data = &byte});
  EXPECT_THROW(writer.write(folder_ / "x.gguf"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.gguf"));
}

}  // namespace
}  // namespace limpid
