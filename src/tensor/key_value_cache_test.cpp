#include "tensor/key_value_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"

namespace limpid {
namespace {

using Entry = KeyValueCache::Entry;

// Adds a token whose key is (x, x + 1) and whose value is (-x).
void append(Entry& entry, real x) {
  const real key[] = {x, x + 1}, value[] = {-x};
  entry.append({key, 1, 2}, {value, 1, 1});
}

std::vector<real> first_numbers(const Entry& entry) {
  std::vector<real> numbers;
  for (int64_t i = 0; i < entry.count(); ++i) {
    const int64_t row = entry.listed().empty() ? i : entry.listed()[i];
    EXPECT_EQ(entry.keys()(row, 1), entry.keys()(row, 0) + 1);
    EXPECT_EQ(entry.values()(row, 0), -entry.keys()(row, 0));
    numbers.push_back(entry.keys()(row, 0));
  }
  return numbers;
}

TEST(KeyValueCache, RowsStandInTheOrderInWhichTheyCame) {
  Entry entry;
  EXPECT_EQ(entry.count(), 0);
  EXPECT_EQ(entry.keys().rows, 0);
  std::vector<real> expected;
  for (int i = 0; i < 100; ++i) {
    append(entry, static_cast<real>(i));
    expected.push_back(static_cast<real>(i));
  }
  EXPECT_EQ(first_numbers(entry), expected);
}

TEST(KeyValueCache, CopiesShareTheirBeginningAndGoOnByThemselves) {
  Entry a;
  append(a, 1);
  append(a, 2);
  Entry b = a;
  Entry c = a;
  EXPECT_EQ(a.keys().data, b.keys().data);
  append(b, 3);
  append(a, 4);
  append(c, 5);
  append(b, 6);
  EXPECT_EQ(first_numbers(a), (std::vector<real>{1, 2, 4}));
  EXPECT_EQ(first_numbers(b), (std::vector<real>{1, 2, 3, 6}));
  EXPECT_EQ(first_numbers(c), (std::vector<real>{1, 2, 5}));
  EXPECT_EQ(a.keys().data, b.keys().data);  // still one block
  EXPECT_EQ(a.keys().data, c.keys().data);
  EXPECT_EQ(b.listed(), (std::vector<int32_t>{0, 1, 2, 5}));
  a.compact();
  EXPECT_TRUE(a.listed().empty());
  EXPECT_EQ(first_numbers(a), (std::vector<real>{1, 2, 4}));
  b.shorten(2);
  EXPECT_EQ(first_numbers(b), (std::vector<real>{1, 2}));
}

TEST(KeyValueCache, CopiesPartWhenTheirBlockIsFull) {
  Entry a;
  append(a, 0);
  Entry b = a;
  std::vector<real> of_a{0}, of_b{0};
  for (int i = 1; i < 3 * KeyValueCache::kFirstRows; ++i) {
    append(a, static_cast<real>(i));
    append(b, static_cast<real>(-i));
    of_a.push_back(static_cast<real>(i));
    of_b.push_back(static_cast<real>(-i));
    EXPECT_EQ(first_numbers(a), of_a);
    EXPECT_EQ(first_numbers(b), of_b);
  }
  EXPECT_NE(a.keys().data, b.keys().data);
}

TEST(KeyValueCache, SeveralRowsAtOnceStandInOrder) {
  Entry a;
  append(a, 1);
  Entry b = a, c = a;
  append(a, 2);
  append(b, 3);
  EXPECT_FALSE(b.listed().empty());
  const real keys[] = {4, 5, 6, 7}, values[] = {-4, -6};
  b.append({keys, 2, 2}, {values, 2, 1});
  c.append({keys, 2, 2}, {values, 2, 1});
  EXPECT_TRUE(b.listed().empty() && c.listed().empty());
  EXPECT_EQ(first_numbers(b), (std::vector<real>{1, 3, 4, 6}));
  EXPECT_EQ(first_numbers(c), (std::vector<real>{1, 4, 6}));
}

TEST(KeyValueCache, TheFirstCopyToGoOnMovesNothing) {
  Entry a;
  append(a, 1);
  Entry b = a;
  const real* before = b.keys().data;
  append(b, 2);
  EXPECT_EQ(b.keys().data, before);
}

TEST(KeyValueCache, ManyRowsCostFewCopies) {
  Entry entry;
  int64_t moves = 0;
  const real* place = nullptr;
  for (int i = 0; i < 4096; ++i) {
    append(entry, static_cast<real>(i));
    moves += entry.keys().data != place;
    place = entry.keys().data;
  }
  EXPECT_LE(moves, 10);
}

TEST(KeyValueCache, SequencesAreAddedChosenAndRepeated) {
  KeyValueCache cache(2);
  append(cache.layer(1)[0], 1);
  append(cache.layer(1)[1], 2);
  cache.advance(0, 1);
  cache.advance(1, 1);
  cache.add(1);
  EXPECT_EQ(cache.sequences(), 3);
  EXPECT_EQ(cache.length(2), 0);
  EXPECT_EQ(cache.layer(1)[2].count(), 0);
  const int32_t rows[] = {1, 2, 1};
  cache.reorder(rows);
  append(cache.layer(1)[0], 3);
  append(cache.layer(1)[2], 4);
  EXPECT_EQ(first_numbers(cache.layer(1)[0]), (std::vector<real>{2, 3}));
  EXPECT_EQ(first_numbers(cache.layer(1)[1]), (std::vector<real>{}));
  EXPECT_EQ(first_numbers(cache.layer(1)[2]), (std::vector<real>{2, 4}));
  EXPECT_EQ(cache.length(0), 1);
  EXPECT_EQ(cache.length(1), 0);
}

TEST(KeyValueCache, RowsOfAnotherWidthAreAnError) {
  Entry entry;
  append(entry, 1);
  const real key[] = {1, 2, 3}, value[] = {1};
  EXPECT_THROW(entry.append({key, 1, 3}, {value, 1, 1}), Error);
}

void append_all(KeyValueCache& cache, int64_t sequence, int64_t tokens) {
  for (int64_t i = 0; i < tokens; ++i) append(cache.layer(0)[sequence], static_cast<real>(cache.length(sequence) + i));
  cache.advance(sequence, tokens);
}

TEST(KeyValueCache, MemoryIsCountedAndComesBack) {
  KeyValueCache cache(0);
  EXPECT_EQ(cache.bytes(), 0);
  cache.add(2, 40);
  append_all(cache, 0, 40);
  const auto row = static_cast<int64_t>(3 * sizeof(real));
  EXPECT_EQ(cache.bytes(), 40 * row);  // never more rows than its limit
  append_all(cache, 1, 1);
  EXPECT_EQ(cache.bytes(), (40 + KeyValueCache::kFirstRows) * row);
  cache.reorder(std::vector<int32_t>{1});
  EXPECT_EQ(cache.bytes(), KeyValueCache::kFirstRows * row);
  EXPECT_GE(cache.most_bytes(), (40 + KeyValueCache::kFirstRows) * row);
  cache.reorder(std::vector<int32_t>{});
  EXPECT_EQ(cache.bytes(), 0);
}

// Pages of memory that this process has.
int64_t resident_bytes() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * 4096;
}

TEST(KeyValueCache, MuchMemoryGoesBackToTheSystem) {
  constexpr int64_t kMegabytes = 400, kCols = 1024;
  const int64_t rows = (kMegabytes << 20) / (2 * kCols * static_cast<int64_t>(sizeof(real)));
  const std::vector<real> numbers(rows * kCols, 1);
  const ConstMatrix matrix{numbers.data(), rows, kCols};
  const int64_t before = resident_bytes();
  {
    Entry entry;
    entry.append(matrix, matrix);
    EXPECT_GT(resident_bytes(), before + ((kMegabytes - 50) << 20));
  }
  EXPECT_LT(resident_bytes(), before + (int64_t{50} << 20));
}

// Texts that began together end together, and others follow: pages would come anew from the system.
TEST(KeyValueCache, MemoryThatIsUsedAgainSoonIsKept) {
  constexpr int64_t kMegabytes = 400, kCols = 1024;
  const int64_t rows = (kMegabytes << 20) / (2 * kCols * static_cast<int64_t>(sizeof(real)));
  const std::vector<real> numbers(rows * kCols, 1);
  const ConstMatrix matrix{numbers.data(), rows, kCols}, few{numbers.data(), 1, kCols};
  const int64_t before = resident_bytes();
  {
    Entry lasting;
    lasting.append(few, few);
    {
      Entry large;
      large.append(matrix, matrix);
    }
    EXPECT_GT(resident_bytes(), before + ((kMegabytes - 50) << 20));
    Entry next;
    next.append(few, few);
    EXPECT_GT(resident_bytes(), before + ((kMegabytes - 50) << 20));
  }
  EXPECT_LT(resident_bytes(), before + (int64_t{50} << 20));
}

TEST(KeyValueCache, WhatWasSavedCanBeGoneOnFrom) {
  KeyValueCache cache(1);
  append_all(cache, 0, 20);
  const KeyValueCache::Saved saved = cache.save(0);
  cache.reorder(std::vector<int32_t>{});
  EXPECT_EQ(cache.bytes(), saved.bytes());
  cache.add(saved, 5);
  cache.add(saved, 20);
  cache.add(saved, 0);
  EXPECT_EQ(cache.bytes(), saved.bytes());  // nothing is copied before somebody goes on
  EXPECT_EQ(cache.length(0), 5);
  append(cache.layer(0)[0], 99);
  append(cache.layer(0)[1], 77);
  append(cache.layer(0)[2], 55);
  EXPECT_EQ(first_numbers(cache.layer(0)[0]), (std::vector<real>{0, 1, 2, 3, 4, 99}));
  EXPECT_EQ(first_numbers(cache.layer(0)[1]).at(20), 77);
  EXPECT_EQ(first_numbers(cache.layer(0)[1]).at(5), 5);
  EXPECT_EQ(first_numbers(cache.layer(0)[2]), (std::vector<real>{55}));
  EXPECT_THROW(cache.add(saved, 21), Error);
}

// A sequence of a low limit does not hold a large block alive.
TEST(KeyValueCache, ALimitHoldsForWhatIsTakenOver) {
  KeyValueCache cache(1);
  append_all(cache, 0, 1000);
  KeyValueCache::Saved saved = cache.save(0);
  cache.reorder(std::vector<int32_t>{});
  cache.add(saved, 5, 30);
  saved = {};
  EXPECT_LE(cache.bytes(), 30 * static_cast<int64_t>(3 * sizeof(real)));
  EXPECT_EQ(first_numbers(cache.layer(0)[0]), (std::vector<real>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace limpid
