#include "base/cancellation.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/parallel.h"

namespace limpid {
namespace {

TEST(Cancellation, EndsWorkBetweenItsLoops) {
  bool wanted = true;
  int64_t done = 0;
  const CancellationScope scope([&] {
    if (!wanted) fail(ErrorKind::cancelled, "[test] nobody wants it");
  });
  const auto loop = [&](int64_t count) { parallel_for(count, [&](int64_t i) { done += i == 0 ? 1 : 0; }); };
  loop(1);
  loop(5);
  wanted = false;
  EXPECT_THROW(loop(1), Error);
  EXPECT_THROW(loop(5), Error);
  EXPECT_EQ(done, 2);
}

TEST(Cancellation, TheInnermostScopeCounts) {
  EXPECT_NO_THROW(check_cancelled());
  const CancellationScope outer([] { fail("[test] outer"); });
  {
    const CancellationScope inner([] {});
    EXPECT_NO_THROW(check_cancelled());
  }
  EXPECT_THROW(check_cancelled(), Error);
}

}  // namespace
}  // namespace limpid
