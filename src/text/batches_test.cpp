#include "text/batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

using testing::HasSubstr;

using Ids = std::vector<int32_t>;
using Ids = std::vector<int32_t>;  // of examples, each of which begins with its own

class BatchesTest : public testing::Test {
 protected:
  // Pairs of 1 … 12 ids per side; the first id is the example's number.
  void write_pairs(int32_t count) {
    Random random(1);
    TokenStoreWriter writer(folder_ / "pairs");
    for (int32_t i = 0; i < count; ++i) {
      Ids first(1 + random.below(12), 99), second(1 + random.below(12), 98);
      first[0] = i;
      writer.add(first, second);
    }
    writer.commit();
    store_ = std::make_unique<TokenStore>(folder_ / "pairs");
  }
  // 0, 1, 2, …, in examples of 7.
  void write_stream(int32_t count) {
    Ids ids(count);
    std::iota(ids.begin(), ids.end(), 0);
    TokenStoreWriter writer(folder_ / "stream");
    for (size_t at = 0; at < ids.size(); at += 7)
      writer.add(std::span(ids).subspan(at, std::min<size_t>(7, ids.size() - at)), {});
    writer.commit();
    store_ = std::make_unique<TokenStore>(folder_ / "stream");
  }

  static Ids numbers(const std::vector<TokenExample>& batch) {
    Ids result;
    for (const TokenExample& example : batch) result.push_back(example.first.at(0));
    return result;
  }
  static std::vector<Ids> epoch_of(Batches& batches) {
    std::vector<Ids> result;
    const int64_t epoch = batches.position().epoch;
    while (batches.position().epoch == epoch) result.push_back(numbers(batches.next()));
    return result;
  }
  static Ids joined(const std::vector<Ids>& batches) {
    Ids all;
    for (const Ids& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
    return all;
  }
  static bool every_number_once(Ids all, int32_t count) {
    std::sort(all.begin(), all.end());
    Ids expected(count);
    std::iota(expected.begin(), expected.end(), 0);
    return all == expected;
  }

  TemporaryFolder folder_;
  std::unique_ptr<TokenStore> store_;
};

TEST_F(BatchesTest, EveryExampleComesOnceAnEpochAndInAnotherOrderTheNext) {
  write_pairs(500);
  for (int64_t pool : {1 << 17, 64, 7, 1}) {  // one pool, and several of which the last is smaller
    Batches batches(*store_, {.tokens = 40, .pool = pool});
    std::set<Ids> orders;
    for (int epoch = 0; epoch < 3; ++epoch) {
      EXPECT_TRUE(batches.at_epoch_start());
      const Ids all = joined(epoch_of(batches));
      EXPECT_TRUE(every_number_once(all, 500)) << "pool " << pool << ", epoch " << epoch;
      orders.insert(all);
    }
    EXPECT_EQ(orders.size(), 3u) << pool;
  }
}

TEST_F(BatchesTest, BatchesThemselvesDifferFromEpochToEpoch) {
  write_pairs(500);
  Batches batches(*store_, {.tokens = 40});
  std::set<Ids> seen;
  size_t count = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (Ids& batch : epoch_of(batches)) {
      std::sort(batch.begin(), batch.end());
      seen.insert(batch);
      ++count;
    }
  EXPECT_GT(seen.size(), count * 8 / 10);
}

TEST_F(BatchesTest, TheSeedDecidesTheOrder) {
  write_pairs(100);
  const auto order = [&](uint64_t seed) {
    Batches batches(*store_, {.tokens = 40, .seed = seed});
    return epoch_of(batches);
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST_F(BatchesTest, TheLimitsHold) {
  write_pairs(500);
  Batches by_tokens(*store_, {.tokens = 40});
  for (int64_t epoch = 0; by_tokens.position().epoch == epoch;) {
    size_t first = 0, second = 0;
    for (const TokenExample& example : by_tokens.next()) first += example.first.size(), second += example.second.size();
    EXPECT_LE(std::max(first, second), 40u);
  }
  Batches by_sequences(*store_, {.tokens = 0, .sequences = 6});
  const auto batches = epoch_of(by_sequences);
  EXPECT_EQ(batches.size(), 84u);  // 83 of 6 and one of 2
  for (const Ids& batch : batches) EXPECT_LE(batch.size(), 6u);
  EXPECT_EQ(by_sequences.batches_per_epoch(), 84);
}

TEST_F(BatchesTest, BatchesAreNearlyFullAndOfNearlyOneLength) {
  write_pairs(2000);
  Batches batches(*store_, {.tokens = 120});
  int64_t tokens = 0, room = 0, longest = 0, count = 0;
  while (batches.position().epoch == 0) {
    const auto batch = batches.next();
    int64_t most = 0;
    for (const TokenExample& example : batch) {
      const auto length = static_cast<int64_t>(std::max(example.first.size(), example.second.size()));
      tokens += length;
      most = std::max(most, length);
    }
    room += 120;
    longest += most * static_cast<int64_t>(batch.size());
    ++count;
  }
  EXPECT_GT(static_cast<double>(tokens), 0.95 * static_cast<double>(longest));
  EXPECT_GT(static_cast<double>(tokens), 0.9 * static_cast<double>(room));
  EXPECT_EQ(batches.batches_per_epoch(), count);
}

TEST_F(BatchesTest, LengthsMixWhereTheyAreNotGathered) {
  write_pairs(2000);
  // How far the longest example of a batch exceeds the shortest, on average.
  const auto differences = [&](bool by_length) {
    Batches batches(*store_, {.tokens = 0, .sequences = 8, .by_length = by_length});
    size_t sum = 0, seen = 0, count = 0;
    while (batches.position().epoch == 0) {
      size_t least = SIZE_MAX, most = 0;
      for (const TokenExample& example : batches.next()) {
        const size_t length = std::max(example.first.size(), example.second.size());
        least = std::min(least, length), most = std::max(most, length);
        ++seen;
      }
      sum += most - least, ++count;
    }
    EXPECT_EQ(seen, 2000u);  // every example once
    return static_cast<double>(sum) / static_cast<double>(count);
  };
  EXPECT_LT(differences(true), 0.5);
  EXPECT_GT(differences(false), 5);
}

TEST_F(BatchesTest, AnExampleLongerThanTheLimitIsABatchOfItsOwn) {
  TokenStoreWriter writer(folder_ / "long");
  for (int32_t length : {3, 50, 3}) {
    Ids ids(length, 1);
    writer.add(ids, ids);
  }
  writer.commit();
  const TokenStore store(folder_ / "long");
  Batches batches(store, {.tokens = 10});
  std::multiset<size_t> sizes;
  while (batches.position().epoch == 0) sizes.insert(batches.next().size());
  EXPECT_EQ(sizes, (std::multiset<size_t>{1, 2}));
}

TEST_F(BatchesTest, SeekingIsGoingOn) {
  write_pairs(200);
  const BatchesOptions options{.tokens = 30, .pool = 64};
  Batches whole(*store_, options);
  std::vector<Batches::Position> positions;
  std::vector<Ids> expected;
  for (int i = 0; i < 150; ++i) {
    positions.push_back(whole.position());
    expected.push_back(numbers(whole.next()));
  }
  ASSERT_GT(positions.back().epoch, 1);
  for (size_t start : {size_t{0}, size_t{1}, size_t{40}, size_t{97}, size_t{140}}) {
    Batches resumed(*store_, options);
    resumed.seek(positions[start]);
    for (size_t i = start; i < expected.size(); ++i)
      ASSERT_EQ(numbers(resumed.next()), expected[i]) << start << " " << i;
  }
}

TEST_F(BatchesTest, APlaceThatIsNotThereIsAnError) {
  write_pairs(20);
  Batches batches(*store_, {.tokens = 30});
  try {
    batches.seek({.epoch = 0, .pool = 0, .batch = 1000});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("another corpus"));
  }
  EXPECT_THROW(batches.seek({.epoch = 0, .pool = 3, .batch = 0}), Error);
}

TEST_F(BatchesTest, WithoutShufflingTheOrderIsTheCorpus) {
  write_pairs(50);
  Batches batches(*store_, {.tokens = 30, .pool = 16, .shuffle = false});
  const Ids all = joined(epoch_of(batches));
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_EQ(all.size(), 50u);
}

// ---- windows of a stream

TEST_F(BatchesTest, WindowsOverlapInOneIdAndCoverTheStream) {
  write_stream(101);  // 100 to be predicted
  Batches batches(*store_, {.tokens = 0, .sequences = 3, .window = 10, .shuffle = false});
  EXPECT_EQ(batches.examples(), 10);
  int32_t next = 0;
  while (batches.position().epoch == 0)
    for (const TokenExample& window : batches.next()) {
      ASSERT_EQ(window.first.size(), 11u);
      for (size_t i = 0; i < window.first.size(); ++i) EXPECT_EQ(window.first[i], next + static_cast<int32_t>(i));
      EXPECT_TRUE(window.second.empty());
      next += 10;
    }
  EXPECT_EQ(next, 100);
}

TEST_F(BatchesTest, ShuffledWindowsShiftUntilEveryIdHasBeenPredictedEquallyOften) {
  write_stream(105);
  Batches batches(*store_, {.tokens = 0, .sequences = 4, .window = 10});
  std::map<int32_t, int> predicted;
  std::set<int32_t> shifts;
  constexpr int kEpochs = 60;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    std::set<int32_t> begins;
    while (batches.position().epoch == epoch)
      for (const TokenExample& window : batches.next()) {
        ASSERT_EQ(window.first.size(), 11u);
        begins.insert(window.first[0]);
        for (size_t i = 1; i < window.first.size(); ++i) {
          EXPECT_EQ(window.first[i], window.first[i - 1] + 1);
          ++predicted[window.first[i]];
        }
      }
    ASSERT_EQ(begins.size(), 9u);  // ten fit; one is left out for the shift
    shifts.insert(*begins.begin());
    EXPECT_EQ(*begins.rbegin() - *begins.begin(), 80);
  }
  EXPECT_GT(shifts.size(), 8u);
  EXPECT_EQ(predicted.size(), 104u);  // all but the first, which nothing predicts
  for (int32_t id = 20; id < 85; ++id) EXPECT_EQ(predicted[id], kEpochs) << id;
}

TEST_F(BatchesTest, AStreamShorterThanAWindowIsAnError) {
  write_stream(10);
  for (bool shuffle : {false, true}) {
    EXPECT_THROW(Batches(*store_, {.window = 10, .shuffle = shuffle}), Error);
    Batches one(*store_, {.window = 9, .shuffle = shuffle});
    EXPECT_EQ(one.examples(), 1);
    EXPECT_EQ(one.next().at(0).first.size(), 10u);
  }
}

TEST_F(BatchesTest, NoExamplesAreAnError) {
  write_pairs(0);
  EXPECT_THROW(Batches(*store_, {}), Error);
}

}  // namespace
}  // namespace limpid
