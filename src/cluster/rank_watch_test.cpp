#include "cluster/rank_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "cluster/deadline.h"

namespace limpid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Rank 0 of some, and the signs that it gets once per second until something is found that ends the run.
class RankWatchTest : public testing::Test {
 protected:
  static constexpr RankWatch::Limits kLimits{.silent = 15, .stuck = 180};

  struct Heard {
    Doing doing = Doing::working;
    int64_t done = 0;
    bool silent = false;
  };
  using Signs = std::vector<Heard>;  // by rank

  // So many seconds, at each of which all ranks show what `signs` says.
  std::optional<RankWatch::Finding> watch(int seconds, const std::function<Signs(int second)>& signs) {
    for (int second = 0; second < seconds; ++second, now_ += 1) {
      const Signs all = signs(second);
      for (int rank = 0; rank < std::ssize(all); ++rank)
        if (!all[rank].silent)
          watch_.heard(rank, {.doing = static_cast<int64_t>(all[rank].doing), .done = all[rank].done}, now_);
      const auto found = watch_.look(now_);
      if (found && found->ends) return found;
      if (found) notes_.push_back(*found);
    }
    return std::nullopt;
  }

  double now_ = 1000;
  std::vector<RankWatch::Finding> notes_;
  RankWatch watch_{0, 3, kLimits, now_};
};

TEST_F(RankWatchTest, NothingIsFoundWhereAllGoesOn) {
  EXPECT_FALSE(watch(2000, [](int second) { return Signs{{.done = second}, {.done = second}, {.done = second}}; }));
  EXPECT_FALSE(watch(2000, [](int) { return Signs(3); }));  // a long computation of all
  EXPECT_TRUE(notes_.empty());
}

TEST_F(RankWatchTest, ASilentRankIsLost) {
  watch(10, [](int) { return Signs(3); });
  const auto found = watch(100, [](int) { return Signs{{}, {}, {.silent = true}}; });
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->ends);
  EXPECT_THAT(found->ranks, ElementsAre(2));
  EXPECT_THAT(found->text, HasSubstr("has not been heard of for 16 s"));
  ASSERT_EQ(notes_.size(), 1);
  EXPECT_THAT(notes_[0].ranks, ElementsAre(2));
  EXPECT_THAT(notes_[0].text, HasSubstr("has not been heard of for 8 s"));
}

TEST_F(RankWatchTest, ASignThatComesLateIsNotWorthANote) {
  RankWatch watch(0, 2, {.silent = 2, .stuck = 24}, 0);
  for (double now = 0; now < 60; now += 0.1) {
    if (std::fmod(now, 1.9) < 0.1) watch.heard(1, {.doing = static_cast<int64_t>(Doing::working)}, now);
    EXPECT_FALSE(watch.look(now)) << now;
  }
}

TEST_F(RankWatchTest, ARankThatNeverAnsweredHasTheLongerTime) {
  const double begun = now_;
  const auto found = watch(1000, [](int) { return Signs{{}, {.silent = true}, {}}; });
  ASSERT_TRUE(found);
  EXPECT_NEAR(now_ - begun, 181, 1);
  EXPECT_THAT(found->ranks, ElementsAre(1));
  EXPECT_THAT(found->text, HasSubstr("has not answered"));
}

TEST_F(RankWatchTest, ARankThatDoesNothingIsStuck) {
  const auto found = watch(1000, [](int) { return Signs{{Doing::waiting}, {Doing::nothing}, {Doing::waiting}}; });
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->ends);
  EXPECT_THAT(found->ranks, ElementsAre(1));
  EXPECT_THAT(found->text, HasSubstr("has been stuck"));
}

// The link between ranks 1 and 2 is cut while both reach rank 0, which has come further with both.
TEST_F(RankWatchTest, RanksThatWaitForEachOtherForEverAreNamed) {
  const auto cut = [](int) { return Signs{{Doing::waiting, 8}, {Doing::waiting, 5}, {Doing::waiting, 5}}; };
  const double begun = now_;
  const auto found = watch(1000, cut);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->ends);
  EXPECT_NEAR(now_ - begun, 181, 1);
  EXPECT_THAT(found->ranks, ElementsAre(1, 2));
  EXPECT_THAT(found->text, HasSubstr("all ranks have waited for each other"));
}

TEST_F(RankWatchTest, WaitingIsInOrderWhileAnythingMoves) {
  EXPECT_FALSE(watch(2000, [](int second) {
    const int64_t done = second / 150;  // a slow network
    return Signs{{Doing::waiting, done}, {Doing::waiting, done}, {Doing::waiting, done}};
  }));
}

TEST_F(RankWatchTest, ARankThatAllWaitForIsNotedOnce) {
  const auto spins = [](int) { return Signs{{Doing::waiting, 7}, {Doing::working, 6}, {Doing::waiting, 7}}; };
  EXPECT_FALSE(watch(1000, spins));
  ASSERT_EQ(notes_.size(), 1);
  EXPECT_THAT(notes_[0].ranks, ElementsAre(1));
  EXPECT_THAT(notes_[0].text, HasSubstr("others have waited"));
  watch(1, [](int) { return Signs{{Doing::waiting, 8}, {Doing::working, 8}, {Doing::waiting, 8}}; });
  EXPECT_FALSE(watch(1000, spins));
  EXPECT_EQ(notes_.size(), 2);  // another time
}

// All processes are suspended at once: nobody could be heard.
TEST_F(RankWatchTest, AWatcherThatWasAwayItselfBlamesNobody) {
  watch(10, [](int) { return Signs(3); });
  now_ += 3600;
  EXPECT_FALSE(watch_.look(now_));
  EXPECT_FALSE(watch(10, [](int) { return Signs{{}, {.silent = true}, {.silent = true}}; }));
  EXPECT_TRUE(watch(10, [](int) { return Signs{{}, {.silent = true}, {}}; }));  // who stays away is lost
}

TEST(RankWatch, OtherRanksWatchRankZeroAlone) {
  RankWatch watch(2, 3, {.silent = 15, .stuck = 180}, 0);
  for (double now = 0; now < 500; now += 1) {
    watch.heard(0, {.doing = static_cast<int64_t>(Doing::waiting)}, now);
    EXPECT_FALSE(watch.look(now));
  }
  std::optional<RankWatch::Finding> found;
  for (double now = 500; now < 600 && !(found && found->ends); now += 1) found = watch.look(now);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->ranks, ElementsAre(0));
}

TEST(Deadline, CallsUnlessItIsGoneBefore) {
  std::atomic<int> missed = 0;
  {
    const Deadline deadline(60, [&] { ++missed; });
  }
  EXPECT_EQ(missed, 0);
  const Deadline deadline(0.01, [&] { ++missed; });
  for (int i = 0; i < 1000 && missed == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(missed, 1);
}

}  // namespace
}  // namespace limpid
