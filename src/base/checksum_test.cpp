#include "base/checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

// RFC 3720, appendix B.4 (written there byte by byte, low one first), and the check value of every catalogue of CRCs.
TEST(Crc32c, AgreesWithThePublishedValues) {
  std::string ascending, descending;
  for (int i = 0; i < 32; ++i) {
    ascending += static_cast<char>(i);
    descending += static_cast<char>(31 - i);
  }
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(ascending), 0x46dd794eu);
  EXPECT_EQ(crc32c(descending), 0x113fdb5cu);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
}

// The bytes on which xxHash's own tests stand.
std::vector<std::byte> sanity_bytes(size_t count) {
  std::vector<std::byte> bytes(count);
  uint64_t generator = 2654435761u;
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(generator >> 56);
    generator *= 11400714785074694797u;
  }
  return bytes;
}

TEST(Crc32c, IsTheSameWithTheInstructionAndWithoutInPiecesAndAtAnyAlignment) {
  const std::vector<std::byte> bytes = sanity_bytes(200);
  for (size_t begin = 0; begin < 9; ++begin)
    for (size_t end = begin; end <= bytes.size(); ++end) {
      const auto part = std::span(bytes).subspan(begin, end - begin);
      const uint32_t whole = crc32c_by_table(part);
      ASSERT_EQ(crc32c(part), whole) << begin << " to " << end;
      const size_t middle = part.size() / 3;
      ASSERT_EQ(crc32c(part.subspan(middle), crc32c(part.first(middle))), whole) << begin << " to " << end;
    }
}

// Made by xxHash 0.8.1 (xxhsum -H1).
TEST(ContentHash, AgreesWithXxhsum) {
  EXPECT_EQ(content_hash(""), 0xef46db3751d8e999u);
  EXPECT_EQ(content_hash("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(content_hash("abc"), 0x44bc2cf5ad770999u);
  EXPECT_EQ(content_hash("xxhash"), 0x32dd38952c4bc720u);
  const std::vector<std::byte> bytes = sanity_bytes(222);
  EXPECT_EQ(content_hash(std::span(bytes).first(1)), 0xe934a84adb052768u);
  EXPECT_EQ(content_hash(std::span(bytes).first(14)), 0x8282dcc4994e35c8u);
  EXPECT_EQ(content_hash(bytes), 0xb641ae8cb691c174u);
  EXPECT_EQ(hash_text(content_hash("abc")), "44bc2cf5ad770999");
  EXPECT_EQ(hash_text(7), "0000000000000007");
}

TEST(ContentHash, PiecesOfAnySizeGiveTheSame) {
  const std::vector<std::byte> bytes = sanity_bytes(300);
  for (size_t count = 0; count <= bytes.size(); count += 7)
    for (size_t piece : {1, 3, 31, 32, 33, 64, 200}) {
      ContentHash hash;
      for (size_t begin = 0; begin < count; begin += piece) {
        hash.update(std::span(bytes).subspan(begin, std::min(piece, count - begin)));
        (void)hash.value();  // asking changes nothing
      }
      ASSERT_EQ(hash.value(), content_hash(std::span(bytes).first(count))) << count << " in pieces of " << piece;
    }
}

TEST(ContentHash, OfAFileIsThatOfItsBytes) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += fmt::format("{} ", i);  // more than one piece of reading
  write_text(folder / "numbers", text);
  write_text(folder / "nothing", "");
  EXPECT_EQ(hash_file(folder / "numbers"), content_hash(text));
  EXPECT_EQ(hash_file(folder / "nothing"), content_hash(""));
  EXPECT_THROW(hash_file(folder / "missing"), Error);
  EXPECT_THROW(hash_file(folder.path()), Error);
}

}  // namespace
}  // namespace limpid
