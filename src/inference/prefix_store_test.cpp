// What was read of texts is found by the longest beginning in common, kept once, and dropped when memory is short.

#include "inference/prefix_store.h"

#include <gtest/gtest.h>

#include "base/real.h"

namespace limpid {
namespace {

using Ids = std::vector<int32_t>;

// As if a text of that many tokens had been read: one layer, rows of two numbers.
KeyValueCache::Saved read(size_t tokens) {
  KeyValueCache cache(1);
  const std::vector<real> numbers(2 * tokens);
  const ConstMatrix rows(numbers.data(), static_cast<int64_t>(tokens), 2);
  cache.layer(0)[0].append(rows, rows);
  cache.advance(0, rows.rows);
  return cache.save(0);
}

void keep(PrefixStore& store, const Ids& ids) { store.insert(ids, read(ids.size())); }

TEST(PrefixStore, FindsTheLongestBeginningInCommon) {
  PrefixStore store;
  EXPECT_EQ(store.find(Ids{1, 2}).saved, nullptr);
  keep(store, {1, 2, 3});
  keep(store, {1, 2, 7, 8, 9});
  const PrefixStore::Found found = store.find(Ids{1, 2, 7, 8, 4});
  EXPECT_EQ(found.tokens, 4);
  ASSERT_NE(found.saved, nullptr);
  EXPECT_EQ(found.saved->length, 5);
  EXPECT_EQ(store.find(Ids{1, 2, 3, 4}).tokens, 3);
  EXPECT_EQ(store.find(Ids{2, 1}).tokens, 0);
  EXPECT_EQ(store.find(Ids{2, 1}).saved, nullptr);
}

TEST(PrefixStore, KeepsNoBeginningBesideTheWhole) {
  PrefixStore store;
  keep(store, {1, 2});
  const int64_t two = store.bytes();
  EXPECT_GT(two, 0);
  keep(store, {1, 2, 3, 4});
  EXPECT_EQ(store.bytes(), read(4).bytes());
  keep(store, {1, 2, 3});  // it is there
  EXPECT_EQ(store.bytes(), read(4).bytes());
  EXPECT_EQ(store.find(Ids{1, 2, 3, 4, 5}).tokens, 4);
}

TEST(PrefixStore, WhatWasNotUsedForTheLongestTimeGoesFirst) {
  PrefixStore store;
  keep(store, {1, 1});
  keep(store, {2, 2});
  keep(store, {3, 3});
  EXPECT_EQ(store.find(Ids{1, 1, 5}).tokens, 2);  // used: now the second is the oldest
  const int64_t all = store.bytes();
  store.shrink(all);
  EXPECT_EQ(store.bytes(), all);
  store.shrink(all - 1);
  EXPECT_EQ(store.find(Ids{2, 2}).tokens, 0);
  EXPECT_EQ(store.find(Ids{1, 1}).tokens, 2);
  EXPECT_EQ(store.find(Ids{3, 3}).tokens, 2);
  store.shrink(0);
  EXPECT_EQ(store.bytes(), 0);
  EXPECT_EQ(store.find(Ids{1, 1}).saved, nullptr);
}

}  // namespace
}  // namespace limpid
