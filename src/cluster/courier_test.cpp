#include "cluster/courier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>

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

// Two ranks, of which the other never answers; hears what this one does.
class HeardCommunicator : public Communicator {
 public:
  explicit HeardCommunicator(std::array<std::atomic<int>, 3>& heard) : heard_(heard) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  std::unique_ptr<Transfer> start_exchange(const real*, const RankBlocks&, real*, const RankBlocks&) override {
    return std::make_unique<Transfer>();
  }
  std::unique_ptr<Transfer> start_gather(real*, const RankBlocks&, int) override {
    return std::make_unique<Transfer>();
  }
  bool test(Transfer&) override { return heard_[static_cast<size_t>(Doing::waiting)] > 2; }
  void broadcast(std::span<std::byte>) override {}
  std::vector<std::string> gather(const std::string& mine) override { return {mine, mine}; }
  void show_life(Doing doing) override { ++heard_[static_cast<size_t>(doing)]; }

 private:
  std::array<std::atomic<int>, 3>& heard_;
};

TEST(Courier, SaysWhatItsOwnerDoes) {
  std::array<std::atomic<int>, 3> heard{};
  Courier courier(std::make_unique<HeardCommunicator>(heard));
  const auto clear = [&] {
    for (auto& count : heard) count = 0;
  };
  const auto count = [&](Doing doing) { return heard[static_cast<size_t>(doing)].load(); };
  const auto sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(550)); };
  sleep();
  clear();
  sleep();
  EXPECT_GE(count(Doing::nothing), 2);
  EXPECT_EQ(count(Doing::waiting), 0);
  {
    const Courier::AtWork writing(courier);  // as in an fsync that takes long
    sleep();
    clear();
    sleep();
    EXPECT_GE(count(Doing::working), 2);
    EXPECT_EQ(count(Doing::nothing), 0);
  }
  clear();
  courier.post([](Communicator& all) { return all.start_gather(nullptr, {}); }, [] {});
  courier.finish();
  EXPECT_GT(count(Doing::waiting), 2);
}

TEST(SameOnAll, ACommonErrorIsOne) {
  for (const int failing : {3, 1}) {
    std::atomic<int> common = 0, others = 0;
    on_ranks(3, [&](Courier& ranks) {
      try {
        together(ranks, [&] { check(ranks.rank() >= failing, "[test] no such recipe"); });
      } catch (const ErrorOnAll&) {
        ++common;
      } catch (const Error&) {
        ++others;
      }
    });
    EXPECT_EQ(common, failing == 3 ? 3 : 0);
    EXPECT_EQ(others, failing == 3 ? 0 : 3);
  }
  EXPECT_THROW(on_ranks(1, [](Courier& ranks) { together(ranks, [] { fail("[test] no such recipe"); }); }), Error);
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
