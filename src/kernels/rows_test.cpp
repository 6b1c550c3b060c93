#include "kernels/rows.h"

#include "kernels/test_support.h"

namespace limpid {
namespace {

// A power of two: factor·x is exact, so that fused and separate multiplication and addition agree to the bit.
constexpr real kFactor = 0.5;

// With shapes that several ranges of threads share.
std::vector<TestShape> shapes() {
  std::vector<TestShape> all = kTestShapes;
  all.insert(all.end(), {{150, 130, 3}, {70, 512, 0}});
  return all;
}

std::vector<int32_t> draw_ids(int64_t count, int64_t table_rows, uint64_t key) {
  Random random(key);
  std::vector<int32_t> ids(count);
  for (int32_t& id : ids) id = static_cast<int32_t>(random.below(table_rows));
  return ids;
}

TEST(GatherRows, IsTheSpecification) {
  for_each_target([] {
    for (const auto& [rows, cols, gap] : shapes()) {
      const auto table = TestMatrix::normal(11, cols, 2 * gap, 1);
      const auto ids = draw_ids(rows, 11, 2);
      TestMatrix y(rows, cols, gap, 9), sum(rows, cols, gap, 3);
      kernels::gather_rows(table.view(), ids.data(), rows, kFactor, y.view(), false);
      kernels::gather_rows(table.view(), ids.data(), rows, kFactor, sum.view(), true);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < cols; ++j) {
          ASSERT_EQ(y(i, j), kFactor * table(ids[i], j)) << i << ", " << j << " of " << rows << " × " << cols;
          ASSERT_EQ(sum(i, j), 3 + kFactor * table(ids[i], j)) << i << ", " << j << " of " << rows << " × " << cols;
        }
      }
      EXPECT_TRUE(y.intact() && sum.intact());
    }
  });
}

// Rows come up many times, and the order in which they are added shows in the last bits.
TEST(ScatterAddRows, AddsInOrderWithAnyNumberOfThreads) {
  for_each_target([] {
    with_threads([] {
      for (const auto& [rows, cols, gap] : shapes()) {
        const auto x = TestMatrix::normal(rows, cols, gap, 1);
        const auto ids = draw_ids(rows, 19, 2);
        TestMatrix table = TestMatrix::normal(19, cols, gap, 3), expected = table;
        kernels::scatter_add_rows(x.view(), ids.data(), kFactor, table.view());
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < cols; ++j) expected(ids[i], j) += kFactor * x(i, j);
        }
        ASSERT_EQ(table, expected) << rows << " × " << cols;
      }
    });
  });
}

TEST(AddScaled, IsTheSpecification) {
  for_each_target([] {
    for (const auto& [rows, cols, gap] : shapes()) {
      const auto x = TestMatrix::normal(rows, cols, gap, 1), before = TestMatrix::normal(rows, cols, 2 * gap, 2);
      TestMatrix y = before, sum = before, in_place = x;
      kernels::add_scaled(x.view(), kFactor, y.view(), false);
      kernels::add_scaled(x.view(), kFactor, sum.view(), true);
      kernels::add_scaled(in_place.view(), kFactor, in_place.view(), true);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < cols; ++j) {
          ASSERT_EQ(y(i, j), kFactor * x(i, j)) << i << ", " << j << " of " << rows << " × " << cols;
          ASSERT_EQ(sum(i, j), before(i, j) + kFactor * x(i, j)) << i << ", " << j << " of " << rows << " × " << cols;
          ASSERT_EQ(in_place(i, j), x(i, j) + kFactor * x(i, j)) << i << ", " << j << " of " << rows << " × " << cols;
        }
      }
      EXPECT_TRUE(y.intact() && sum.intact() && in_place.intact());
    }
  });
}

}  // namespace
}  // namespace limpid
