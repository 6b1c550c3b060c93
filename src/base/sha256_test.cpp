#include "base/sha256.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

std::string hash_of(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex();
}

// NIST's examples.
TEST(Sha256, GivesThePublishedValues) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesAreTheWhole) {
  const std::string text(200, 'x');
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 hash;
    hash.update(text.substr(0, cut));
    EXPECT_EQ(hash.hex().size(), 64u);  // asking does not disturb what follows
    hash.update(text.substr(cut));
    EXPECT_EQ(hash.hex(), hash_of(text)) << cut;
  }
}

TEST(Sha256, OfFiles) {
  const TemporaryFolder folder;
  write_text(folder.path() / "some", "abc");
  write_text(folder.path() / "none", "");
  EXPECT_EQ(sha256_of_file(folder.path() / "some"), hash_of("abc"));
  EXPECT_EQ(sha256_of_file(folder.path() / "none"), hash_of(""));
}

}  // namespace
}  // namespace limpid
