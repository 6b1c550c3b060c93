#include "text/token_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Ids = std::vector<int32_t>;

class TokenStoreTest : public testing::Test {
 protected:
  void write(const std::vector<TokenExample>& examples) const {
    TokenStoreWriter writer(path_);
    for (const TokenExample& example : examples) writer.add(example.first, example.second);
    writer.commit();
  }
  fs::path file(const char* extension) const { return fs::path(path_) += extension; }
  std::string error() const {
    try {
      const TokenStore store(path_);
      for (int64_t i = 0; i < store.size(); ++i) store.example(i);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_ / "train";
};

TEST_F(TokenStoreTest, GivesBackWhatWasWrittenInAnyOrder) {
  write({{{5, 6, 7}, {8}}, {{}, {9, 10}}, {{INT32_MAX, 0}, {}}});
  const TokenStore store(path_);
  EXPECT_EQ(store.size(), 3);
  EXPECT_EQ(store.tokens(), 8);
  EXPECT_THAT(store.example(2).first, ElementsAre(INT32_MAX, 0));
  EXPECT_THAT(store.example(2).second, IsEmpty());
  EXPECT_THAT(store.example(0).first, ElementsAre(5, 6, 7));
  EXPECT_THAT(store.example(0).second, ElementsAre(8));
  EXPECT_THAT(store.example(1).first, IsEmpty());
  EXPECT_THAT(store.example(1).second, ElementsAre(9, 10));
  EXPECT_EQ(store.entry(0).longest(), 3);
  EXPECT_EQ(store.entry(1).longest(), 2);
}

TEST_F(TokenStoreTest, ReadsAcrossTheBordersOfExamples) {
  write({{{1, 2}, {3}}, {{4, 5}, {6}}});
  const TokenStore store(path_);
  EXPECT_THAT(store.ids(1, 4), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(store.ids(6, 0), IsEmpty());
  EXPECT_THROW(store.ids(4, 3), Error);
}

// More ids and more entries than wait in memory.
TEST_F(TokenStoreTest, HoldsMoreThanOneBuffer) {
  constexpr int kCount = 70000;
  TokenStoreWriter writer(path_);
  Ids long_one(200000);
  std::iota(long_one.begin(), long_one.end(), 0);
  for (int32_t i = 0; i < kCount; ++i) writer.add(Ids{i}, {});
  writer.add(long_one, Ids{-7});
  writer.add(Ids{1, 2}, Ids{3});
  writer.commit();
  const TokenStore store(path_);
  ASSERT_EQ(store.size(), kCount + 2);
  EXPECT_EQ(store.tokens(), kCount + 200001 + 3);
  for (int32_t i : {0, 65535, 65536, kCount - 1}) EXPECT_THAT(store.example(i).first, ElementsAre(i));
  EXPECT_EQ(store.example(kCount).first, long_one);
  EXPECT_THAT(store.example(kCount).second, ElementsAre(-7));
  EXPECT_THAT(store.example(kCount + 1).second, ElementsAre(3));
}

TEST_F(TokenStoreTest, ComesIntoBeingWithCommit) {
  {
    TokenStoreWriter writer(path_);
    writer.add(Ids{1}, Ids{2});
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  EXPECT_THAT(error(), HasSubstr("train.tokens"));
}

TEST_F(TokenStoreTest, DamageIsToldWithWhatToDo) {
  write({{{1, 2}, {3}}, {{4}, {5}}});
  EXPECT_EQ(error(), "no error");
  fs::resize_file(file(".tokens"), 16);  // one id is lost
  EXPECT_THAT(error(), HasSubstr("an example of 2 ids from 3 on among 4"));
  fs::resize_file(file(".tokens"), 15);
  EXPECT_THAT(error(), testing::AllOf(HasSubstr("damaged"), HasSubstr("delete the folder")));
  fs::remove(file(".index"));
  fs::resize_file(file(".tokens"), 16);
  EXPECT_THAT(error(), HasSubstr("train.index"));
}

TEST_F(TokenStoreTest, AnIndexThatPointsElsewhereIsAnError) {
  write({{{1, 2}, {3}}, {{4}, {5}}});
  const TokenStore whole(path_);
  EXPECT_NO_THROW(whole.check_ids(5, 6));
  EXPECT_THROW(whole.check_ids(4, 6), Error);  // 4 is among the first sides
  EXPECT_THROW(whole.check_ids(5, 5), Error);  // 5 is among the second ones
  const std::vector<ExampleEntry> crafted = {
      {0, 0xffffffff, 2}, {0, 0x80000000, 0x80000000}, {UINT64_MAX, 1, 1}, {uint64_t{1} << 62, 1, 1}, {4, 1, 1}};
  for (const ExampleEntry& entry : crafted) {
    const std::vector<ExampleEntry> index = {entry};
    const auto bytes = std::as_bytes(std::span(index));
    write_text(file(".index"), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const TokenStore store(path_);
    EXPECT_THROW(store.example(0), Error) << entry.begin;
    EXPECT_THROW(store.check_ids(100, 100), Error) << entry.begin;
  }
}

TEST_F(TokenStoreTest, AnEmptyOneIsAllowed) {
  write({});
  const TokenStore store(path_);
  EXPECT_EQ(store.size(), 0);
  EXPECT_EQ(store.tokens(), 0);
  EXPECT_THROW(store.entry(0), Error);
}

}  // namespace
}  // namespace limpid
