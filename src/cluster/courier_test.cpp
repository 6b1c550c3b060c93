#include "cluster/courier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cluster/same_on_all.h"
#include "cluster/thread_ranks.h"

namespace limpid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Courier, TextsAndNumbersReachAllRanks) {
  on_ranks(3, [](Courier& ranks) {
    EXPECT_EQ(ranks.broadcast(ranks.first() ? "from the first" : ""), "from the first");
    EXPECT_THAT(ranks.gather(std::to_string(ranks.rank())), ElementsAre("0", "1", "2"));
    std::vector<real> numbers(6, -1);
    numbers[2 * ranks.rank()] = static_cast<real>(ranks.rank());
    bool over = false;
    ranks.post(
        [&](Communicator& communicator) {
          return communicator.start_gather(numbers.data(), {{1, 1, 1}, {0, 2, 4}});
        },
        [&] { over = true; });
    ranks.finish();
    EXPECT_TRUE(over);
    EXPECT_THAT(numbers, ElementsAre(0, -1, 1, -1, 2, -1));
  });
}

TEST(Courier, TransfersEndInTheirOrder) {
  on_ranks(2, [](Courier& ranks) {
    std::vector<int> ended;
    for (int i = 0; i < 20; ++i)
      ranks.post([](Communicator&) { return std::make_unique<Communicator::Transfer>(); },
                 [&ended, i] { ended.push_back(i); });
    ranks.finish();
    EXPECT_EQ(std::ssize(ended), 20);
    EXPECT_TRUE(std::is_sorted(ended.begin(), ended.end()));
  });
}

TEST(Courier, ErrorsOfItsThreadComeOut) {
  on_ranks(2, [](Courier& ranks) {
    ranks.post([](Communicator&) -> std::unique_ptr<Communicator::Transfer> { fail("[test] lost"); }, [] {});
    EXPECT_THROW(ranks.finish(), Error);
    EXPECT_THROW(ranks.gather(""), Error);
  });
}

TEST(SameOnAll, NamesTheRankAndWhatDiffers) {
  std::vector<std::string> said(3);
  on_ranks(3, [&](Courier& ranks) {
    check_same_on_all(ranks, {{"version", "1"}, {"seed", "7"}});
    try {
      check_same_on_all(ranks, {{"version", "1"}, {"seed", ranks.rank() == 2 ? "8" : "7"}});
    } catch (const Error& error) {
      said[ranks.rank()] = error.what();
    }
  });
  for (const std::string& text : said) {
    EXPECT_THAT(text, HasSubstr("rank 2"));
    EXPECT_THAT(text, HasSubstr("seed is 8 instead of 7"));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("version")));
  }
}

}  // namespace
}  // namespace limpid
