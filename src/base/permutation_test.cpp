#include "base/permutation.h"

#include <gtest/gtest.h>

#include <vector>

namespace limpid {
namespace {

TEST(Permutation, MeetsEveryNumberOnce) {
  for (int64_t n : {1, 2, 3, 4, 5, 16, 17, 100, 1000, 4097}) {
    const Permutation permutation(n, 7);
    std::vector<int> met(n);
    for (int64_t i = 0; i < n; ++i) ++met.at(permutation(i));
    for (int count : met) EXPECT_EQ(count, 1) << n;
  }
}

TEST(Permutation, KeysGiveOrdersThatHaveNothingInCommon) {
  constexpr int64_t kSize = 10000;
  const Permutation a(kSize, 1), b(kSize, 2);
  int64_t same = 0, in_place = 0;
  double ascents = 0;
  for (int64_t i = 0; i < kSize; ++i) {
    same += a(i) == b(i);
    in_place += a(i) == i;
    if (i > 0) ascents += a(i) > a(i - 1);
  }
  EXPECT_LT(same, 10);      // one is expected
  EXPECT_LT(in_place, 10);  // likewise
  EXPECT_NEAR(ascents / kSize, 0.5, 0.02);
}

}  // namespace
}  // namespace limpid
