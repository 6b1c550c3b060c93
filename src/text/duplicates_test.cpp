#include "text/duplicates.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace limpid {
namespace {

TEST(TextHash, TellsSidesAndOrderApart) {
  EXPECT_EQ(text_hash("a", "b"), text_hash("a", "b"));
  EXPECT_NE(text_hash("a", "b"), text_hash("b", "a"));
  EXPECT_NE(text_hash("ab"), text_hash("a", "b"));
  EXPECT_NE(text_hash("", "ab"), text_hash("ab", ""));
  EXPECT_NE(text_hash("a"), text_hash("A"));
}

TEST(DuplicateCounter, CountsAllButTheFirstOfEqualOnes) {
  DuplicateCounter counter;
  EXPECT_EQ(counter.duplicates(), 0);
  for (const char* text : {"a", "b", "a", "c", "a", "b"}) counter.add(text_hash(text));
  EXPECT_EQ(counter.duplicates(), 3);
  EXPECT_EQ(counter.duplicates(), 3);  // asking changes nothing
}

// More than is sorted in memory at once: the parts add up.
TEST(DuplicateCounter, CountsInParts) {
  constexpr uint64_t kDifferent = 900000, kRepeated = 400000;
  DuplicateCounter counter;
  for (uint64_t i = 0; i < kDifferent; ++i) counter.add(mix(i));
  for (uint64_t i = 0; i < kRepeated; ++i) counter.add(mix(2 * i));
  EXPECT_EQ(counter.duplicates(), static_cast<int64_t>(kRepeated));
}

}  // namespace
}  // namespace limpid
