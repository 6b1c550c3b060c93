#include "base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace limpid {
namespace {

class Parallel : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_threads(GetParam()); }
  void TearDown() override { set_threads(0); }
};

TEST_P(Parallel, VisitsEveryItemOnce) {
  for (int round = 0; round < 2000; ++round) {
    const int64_t count = 1 + round % 17;
    std::vector<std::atomic<int>> visits(count);
    parallel_for(count, [&](int64_t i) { ++visits[i]; });
    for (const auto& visit : visits) ASSERT_EQ(visit, 1) << round;
  }
}

TEST_P(Parallel, SeesWhatWasWrittenBeforeAndIsSeenAfter) {
  std::vector<int64_t> numbers(1000);
  for (int64_t round = 1; round < 300; ++round) {
    std::fill(numbers.begin(), numbers.end(), round);
    parallel_ranges(1000, 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) numbers[i] += i;
    });
    ASSERT_EQ(std::accumulate(numbers.begin(), numbers.end(), int64_t{0}), 1000 * round + 999 * 500);
  }
}

TEST_P(Parallel, RethrowsAndGoesOn) {
  EXPECT_THROW(parallel_for(100,
                            [](int64_t i) {
                              if (i == 37) throw std::runtime_error("x");
                            }),
               std::runtime_error);
  std::atomic<int> visits = 0;
  parallel_for(100, [&](int64_t) { ++visits; });
  EXPECT_EQ(visits, 100);
}

TEST_P(Parallel, RunsInPlaceWithinItself) {
  std::atomic<int> visits = 0;
  parallel_for(8, [&](int64_t) { parallel_for(8, [&](int64_t) { ++visits; }); });
  EXPECT_EQ(visits, 64);
}

TEST_P(Parallel, ServesSeveralCallersAtOnce) {
  std::atomic<int64_t> visits = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i)
      callers.emplace_back([&] {
        set_threads(GetParam());
        for (int round = 0; round < 200; ++round) parallel_for(5, [&](int64_t) { ++visits; });
      });
  }
  EXPECT_EQ(visits, 4 * 200 * 5);
}

TEST_P(Parallel, WakesHelpersThatSleep) {
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> visits = 0;
    parallel_for(64, [&](int64_t) { ++visits; });
    EXPECT_EQ(visits, 64);
  }
}

#ifndef __SANITIZE_ADDRESS__
// The system may have no memory for the stack of one more thread.
TEST(ParallelDeathTest, GoesOnWithoutHelpers) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        set_threads(4);
        std::vector<char> touched(64);
        int64_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit limit = {};
        limit.rlim_cur = limit.rlim_max = static_cast<rlim_t>((pages + 256) * ::sysconf(_SC_PAGESIZE));
        ::setrlimit(RLIMIT_AS, &limit);
        parallel_for(64, [&](int64_t i) { touched[static_cast<size_t>(i)] = 1; });
        std::_Exit(std::accumulate(touched.begin(), touched.end(), 0) == 64 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
#endif

INSTANTIATE_TEST_SUITE_P(Threads, Parallel, testing::Values(1, 2, 3, 8));

}  // namespace
}  // namespace limpid
