#include "kernels/row_partials.h"

#include <set>

#include "kernels/test_support.h"

namespace limpid::kernels {
namespace {

TEST(RowPartials, EveryRangeHasItsOwnSums) {
  const int64_t rows = 5 * RowPartials::grain_rows(1000) + 3;
  with_threads([&] {
    RowPartials partials(rows, 1000, 2);
    std::vector<real*> places(rows);
    partials.fill([&](int64_t begin, int64_t end, real* sums) {
      places[begin] = sums;
      EXPECT_TRUE(sums[0] == 0 && sums[1] == 0);
      sums[0] += static_cast<real>(end - begin);
      sums[1] += static_cast<real>(begin);
    });
    EXPECT_EQ(std::set<real*>(places.begin(), places.end()).size(), 6 + 1);  // and nullptr
    real counts[] = {10}, begins[] = {0};
    partials.add_to(0, 1, counts);
    partials.add_to(1, 1, begins);
    EXPECT_EQ(counts[0], static_cast<real>(10 + rows));
    EXPECT_EQ(begins[0], static_cast<real>(15 * RowPartials::grain_rows(1000)));  // 0 + 1 + 2 + 3 + 4 + 5
  });
}

TEST(RowPartials, NothingToSum) {
  RowPartials partials(0, 1000, 2);
  partials.fill([](int64_t, int64_t, real*) { ADD_FAILURE(); });
  real sum = 1;
  partials.add_to(0, 1, &sum);
  EXPECT_EQ(sum, 1);
  RowPartials without_columns(5, 0, 0);
  without_columns.add_to(0, 0, &sum);
  EXPECT_EQ(sum, 1);
}

}  // namespace
}  // namespace limpid::kernels
