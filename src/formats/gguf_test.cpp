#include "formats/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "formats/gguf_tokenizer.h"
#include "formats/small_gguf.h"

namespace limpid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

GgufContents parse(const std::string& bytes) { return parse_gguf(std::as_bytes(std::span(bytes)), "[gguf] x"); }

std::string error_of(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

GgufBuilder small_file() {
  GgufBuilder builder;
  builder.text("general.architecture", "llama");
  builder.integer("a.size", 7);
  builder.number<int8_t>("a.small", 1, -3);
  builder.number<uint64_t>("a.large", 10, uint64_t{1} << 40);
  builder.real("a.eps", 0.5f);
  builder.flag("a.flag", true);
  builder.texts("a.texts", {"x", "", "yz"});
  builder.numbers<float>("a.scores", 6, {1.5f, -2.0f});
  builder.tensor("m", {2, 3}, 0, std::string(24, '\0'));
  builder.tensor("q", {1, 32}, 8, std::string(34, '\1'));
  builder.tensor("new", {4}, 999, "....");
  return builder;
}

class GgufFiles : public testing::Test {
 protected:
  GgufFile open(const GgufBuilder& builder) {
    write_text(folder_ / "x.gguf", builder.bytes());
    return GgufFile(folder_ / "x.gguf");
  }
  TemporaryFolder folder_;
};

TEST_F(GgufFiles, ValuesAndTensorsAreRead) {
  const GgufFile file = open(small_file());
  EXPECT_EQ(file.text("general.architecture"), "llama");
  EXPECT_EQ(file.integer("a.size"), 7);
  EXPECT_EQ(file.integer("a.small"), -3);
  EXPECT_EQ(file.integer("a.large"), int64_t{1} << 40);
  EXPECT_EQ(file.real("a.eps"), 0.5);
  EXPECT_EQ(file.flag("a.flag"), true);
  EXPECT_EQ(file.integer("a.none"), std::nullopt);
  EXPECT_THAT(*file.texts("a.texts"), ElementsAre("x", "", "yz"));
  EXPECT_THAT(*file.numbers("a.scores"), ElementsAre(1.5, -2.0));
  EXPECT_EQ(file.texts("a.none"), nullptr);
  const GgufTensor* matrix = file.tensor("m");
  ASSERT_NE(matrix, nullptr);
  EXPECT_THAT(matrix->shape, ElementsAre(2, 3));
  EXPECT_EQ(matrix->type->name, "F32");
  EXPECT_EQ(matrix->bytes.size(), 24u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(matrix->bytes.data()) % 32, 0u);
  EXPECT_EQ(file.tensor("q")->bytes.size(), 34u);
  EXPECT_EQ(file.tensor("q")->bytes[33], std::byte{1});
  EXPECT_EQ(file.tensor("new")->type, nullptr);
  EXPECT_EQ(file.tensor("none"), nullptr);
}

TEST_F(GgufFiles, ValuesOfAnotherTypeAreErrors) {
  const GgufFile file = open(small_file());
  EXPECT_THROW(file.integer("a.eps"), Error);
  EXPECT_THROW(file.real("a.size"), Error);
  EXPECT_THROW(file.text("a.size"), Error);
  EXPECT_THROW(file.flag("a.size"), Error);
  EXPECT_THROW(file.texts("a.scores"), Error);
  EXPECT_THROW(file.numbers("a.texts"), Error);
  EXPECT_THROW(file.array("a.size"), Error);
}

TEST(Gguf, EveryTruncationIsAnError) {
  GgufBuilder builder = small_file();
  const std::string whole = builder.bytes();
  EXPECT_EQ(error_of(whole), "no error");
  for (size_t size = 0; size + 4 < whole.size(); ++size) EXPECT_NE(error_of(whole.substr(0, size)), "no error") << size;
}

// A byte changed anywhere gives other contents or an Error, never a crash.
TEST(Gguf, DamageNeverCrashes) {
  const std::string whole = small_file().bytes();
  for (size_t at = 0; at < whole.size(); ++at)
    for (const char change : {'\xff', '\x80', '\x01'}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      try {
        for (const GgufTensor& tensor : parse(damaged).tensors) EXPECT_LE(tensor.bytes.size(), damaged.size());
      } catch (const Error&) {
        SUCCEED();
      }
    }
}

TEST(Gguf, AbsurdNumbersAreErrors) {
  GgufBuilder tensors = small_file(), keys = small_file();
  tensors.tensor_count = uint64_t{1} << 60;
  EXPECT_THAT(error_of(tensors.bytes()), HasSubstr("tensors, more than a file"));
  keys.key_count = UINT64_MAX;
  EXPECT_THAT(error_of(keys.bytes()), HasSubstr("keys, more than a file"));
  GgufBuilder array;
  array.raw("a", 9, GgufBuilder::array_head(6, uint64_t{1} << 62) + "1234");
  EXPECT_THAT(error_of(array.bytes()), HasSubstr("values in an array"));
  GgufBuilder text;
  std::string length;
  append_raw(length, UINT64_MAX - 3);
  text.raw("a", 8, length + "abc");
  EXPECT_THAT(error_of(text.bytes()), HasSubstr("a text of"));
  GgufBuilder shape;
  shape.tensor_at("m", {int64_t{1} << 32, int64_t{1} << 32}, 0, 0);
  EXPECT_THAT(error_of(shape.bytes()), HasSubstr("too large"));
  GgufBuilder beyond;
  beyond.tensor_at("m", {2, 2}, 0, 64);
  EXPECT_THAT(error_of(beyond.bytes()), HasSubstr("truncated"));
  GgufBuilder odd;
  odd.tensor_at("m", {2, 2}, 0, 3);
  EXPECT_THAT(error_of(odd.bytes()), HasSubstr("no multiple"));
  GgufBuilder blocks;
  blocks.tensor_at("m", {4, 31}, 8, 0);
  EXPECT_THAT(error_of(blocks.bytes()), HasSubstr("blocks of 32"));
  GgufBuilder dimensions;
  dimensions.tensor_at("m", {1, 1, 1, 1, 1}, 0, 0);
  EXPECT_THAT(error_of(dimensions.bytes()), HasSubstr("dimensions"));
}

TEST(Gguf, OtherFilesAreNamed) {
  GgufBuilder builder = small_file();
  builder.version = 1;
  EXPECT_THAT(error_of(builder.bytes()), HasSubstr("version 1"));
  builder.version = 0x03000000;
  EXPECT_THAT(error_of(builder.bytes()), HasSubstr("big-endian"));
  EXPECT_THAT(error_of("<html> not found"), HasSubstr("does not begin with GGUF"));
  GgufBuilder type;
  type.raw("a", 77, "");
  EXPECT_THAT(error_of(type.bytes()), HasSubstr("type 77"));
  GgufBuilder nested;
  nested.raw("a", 9, GgufBuilder::array_head(9, 1) + GgufBuilder::array_head(0, 0));
  EXPECT_THAT(error_of(nested.bytes()), HasSubstr("array of type 9"));
  GgufBuilder twice;
  twice.integer("a", 1);
  twice.integer("a", 2);
  EXPECT_THAT(error_of(twice.bytes()), HasSubstr("twice"));
}

// A vocabulary of four letters, two merges and bytes for everything else.
GgufBuilder byte_level_file() {
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "gpt2");
  builder.text("tokenizer.ggml.pre", "gpt-2");
  builder.texts("tokenizer.ggml.tokens", {"a", "b", "\u0120", "ab", "\u0120ab", "<end>", "<new>"});
  builder.numbers<int32_t>("tokenizer.ggml.token_type", 5, {1, 1, 1, 1, 1, 3, 4});
  builder.texts("tokenizer.ggml.merges", {"a b", "\u0120 ab"});
  builder.integer("tokenizer.ggml.eos_token_id", 5);
  return builder;
}

std::string tokenizer_error(const GgufFile& file) {
  try {
    gguf_tokenizers(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(GgufFiles, ByteLevelVocabulary) {
  const Tokenizers tokenizers = gguf_tokenizers(open(byte_level_file()));
  EXPECT_THAT(tokenizers.source->encode("ab ab<new>b"), ElementsAre(3, 4, 6, 1));
  EXPECT_THAT(tokenizers.source->encode("<end>"), ElementsAre());  // no special token, and no letters of it
  EXPECT_EQ(tokenizers.source->special().end, 5);
  EXPECT_EQ(tokenizers.source->decode(std::vector<int32_t>{3, 5, 4, 6}), "ab ab<new>");
  EXPECT_THAT(tokenizers.before, ElementsAre());
}

// As llama.cpp takes a file that says nothing of it.
TEST_F(GgufFiles, SomePreTokenizersBeginATextAndTakeWholeWords) {
  const auto open_with = [&](const std::string& pre, bool says_no) {
    GgufBuilder builder;
    builder.text("tokenizer.ggml.model", "gpt2");
    if (!pre.empty()) builder.text("tokenizer.ggml.pre", pre);
    builder.texts("tokenizer.ggml.tokens", {"a", "b", "c", "ab", "abc", "<s>", "1", "2"});
    builder.numbers<int32_t>("tokenizer.ggml.token_type", 5, {1, 1, 1, 1, 1, 3, 1, 1});
    builder.texts("tokenizer.ggml.merges", {"a b"});
    builder.integer("tokenizer.ggml.bos_token_id", 5);
    if (says_no) builder.flag("tokenizer.ggml.add_bos_token", false);
    return gguf_tokenizers(open(builder));
  };
  for (const char* name : {"llama3", "llama-v3", "llama-bpe", "falcon3", "pixtral", "tekken"}) {
    EXPECT_THAT(open_with(name, false).before, ElementsAre(5)) << name;
    EXPECT_THAT(open_with(name, true).before, ElementsAre()) << name;
    EXPECT_THAT(open_with(name, false).source->encode("abc"), ElementsAre(4)) << name;
  }
  for (const char* name :
       {"gpt-2", "default", "", "qwen2", "seed-coder", "minerva-7b", "megrez", "trillion", "bloom"}) {
    EXPECT_THAT(open_with(name, false).before, ElementsAre()) << name;
    EXPECT_THAT(open_with(name, false).source->encode("abc"), ElementsAre(3, 2)) << name;
  }
}

TEST_F(GgufFiles, WithoutANameThreeDigitsGoTogether) {
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "gpt2");
  builder.texts("tokenizer.ggml.tokens", {"1", "2", "12", "1212"});
  builder.texts("tokenizer.ggml.merges", {"1 2", "12 12"});
  EXPECT_THAT(gguf_tokenizers(open(builder)).source->encode("1212"), ElementsAre(2, 0, 1));
  builder.text("tokenizer.ggml.pre", "gpt-2");
  EXPECT_THAT(gguf_tokenizers(open(builder)).source->encode("1212"), ElementsAre(3));
}

TEST_F(GgufFiles, SentencePieceVocabulary) {
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "llama");
  builder.texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "\u2581", "a", "b", "ab", "\u2581ab"});
  builder.numbers<float>("tokenizer.ggml.scores", 6, {0, 0, 0, -4, -5, -6, -1, -2});
  builder.numbers<int32_t>("tokenizer.ggml.token_type", 5, {2, 3, 3, 1, 1, 1, 1, 1});
  builder.integer("tokenizer.ggml.bos_token_id", 1);
  const Tokenizers tokenizers = gguf_tokenizers(open(builder));
  EXPECT_THAT(tokenizers.source->encode("ab ba"), ElementsAre(7, 3, 5, 4));
  EXPECT_EQ(tokenizers.source->decode(std::vector<int32_t>{1, 7, 3, 5, 4}), "ab ba");
  EXPECT_THAT(tokenizers.before, ElementsAre(1));
}

TEST_F(GgufFiles, PaddingThatIsTypedAsUnknown) {
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "llama");
  builder.texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "\u2581", "a", "[PAD5]", "[PAD6]"});
  builder.numbers<float>("tokenizer.ggml.scores", 6, {0, 0, 0, -4, -5, -1000, -1000});
  builder.numbers<int32_t>("tokenizer.ggml.token_type", 5, {2, 3, 3, 1, 1, 2, 2});
  const Tokenizers tokenizers = gguf_tokenizers(open(builder));
  EXPECT_THAT(tokenizers.source->encode("a z"), ElementsAre(3, 4, 3, 0));
  EXPECT_EQ(tokenizers.source->special().unknown, 0);
}

TEST_F(GgufFiles, CharacterMapsThatAreNone) {
  for (const std::vector<double>& map : {std::vector<double>{1e300}, {-500}, {255, 255, 255, 255, 0}, {1, 2}}) {
    GgufBuilder builder;
    builder.text("tokenizer.ggml.model", "t5");
    builder.texts("tokenizer.ggml.tokens", {"<unk>", "a"});
    builder.numbers<int32_t>("tokenizer.ggml.token_type", 5, {2, 1});
    builder.numbers<double>("tokenizer.ggml.precompiled_charsmap", 12, map);
    EXPECT_THAT(tokenizer_error(open(builder)), HasSubstr("character map")) << map[0];
  }
}

TEST_F(GgufFiles, WordPieceVocabulary) {
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "bert");
  builder.texts("tokenizer.ggml.tokens", {"[UNK]", "[CLS]", "[SEP]", "\u2581un", "able", "\u2581able", "\u2581!"});
  builder.numbers<int32_t>("tokenizer.ggml.token_type", 5, {3, 3, 3, 1, 1, 1, 1});
  const Tokenizers tokenizers = gguf_tokenizers(open(builder));
  EXPECT_THAT(tokenizers.source->encode("Unable, \u00fcn able!"), ElementsAre(3, 4, 0, 3, 5, 6));
  EXPECT_THAT(tokenizers.before, ElementsAre(1));
  EXPECT_THAT(tokenizers.after, ElementsAre(2));
  builder.flag("tokenizer.ggml.add_eos_token", false);  // llama.cpp does not ask
  EXPECT_THAT(gguf_tokenizers(open(builder)).after, ElementsAre(2));
}

TEST_F(GgufFiles, WrongVocabulariesAreErrors) {
  EXPECT_THAT(tokenizer_error(open(small_file())), HasSubstr("has no vocabulary"));
  GgufBuilder builder = byte_level_file();
  builder.flag("tokenizer.ggml.add_bos_token", true);  // but there is none to add
  EXPECT_EQ(tokenizer_error(open(builder)), "no error");
  builder.integer("tokenizer.ggml.bos_token_id", 7);
  EXPECT_THAT(tokenizer_error(open(builder)), HasSubstr("beyond the 7 tokens"));
  GgufBuilder other;
  other.text("tokenizer.ggml.model", "rwkv");
  EXPECT_THAT(tokenizer_error(open(other)), HasSubstr("rwkv"));
  GgufBuilder unknown;
  unknown.text("tokenizer.ggml.model", "gpt2");
  unknown.text("tokenizer.ggml.pre", "tomorrow");
  unknown.texts("tokenizer.ggml.tokens", {"a", "b"});
  unknown.texts("tokenizer.ggml.merges", {});
  EXPECT_THAT(tokenizer_error(open(unknown)), HasSubstr("\"tomorrow\"; Limpid knows gpt-2"));
  GgufBuilder merges;
  merges.text("tokenizer.ggml.model", "gpt2");
  merges.texts("tokenizer.ggml.tokens", {"a", "b"});
  merges.texts("tokenizer.ggml.merges", {"a b"});
  EXPECT_THAT(tokenizer_error(open(merges)), HasSubstr("joins"));
  GgufBuilder counts;
  counts.text("tokenizer.ggml.model", "llama");
  counts.texts("tokenizer.ggml.tokens", {"a", "b"});
  counts.numbers<float>("tokenizer.ggml.scores", 6, {1});
  EXPECT_THAT(tokenizer_error(open(counts)), HasSubstr("not as many scores"));
}

}  // namespace
}  // namespace limpid
