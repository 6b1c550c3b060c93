#include "base/turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "base/parallel.h"

namespace limpid {
namespace {

using namespace std::chrono_literals;

class TurnsTest : public testing::Test {
 protected:
  void SetUp() override { set_threads(2); }
  void TearDown() override { set_threads(0); }

  // A loop in the background that a thread of its own runs again and again until `over_`.
  std::thread background(const std::function<void()>& loop) {
    return std::thread([this, loop] {
      work_in_background();
      while (!over_) {
        loop();
        ++loops_;
      }
    });
  }
  std::atomic<bool> over_ = false;
  std::atomic<int> loops_ = 0;
};

// While foreground work is under way no background loop runs, and both go on.
TEST_F(TurnsTest, ForegroundHasTheThreadsToItself) {
  std::atomic<bool> foreground = false;
  std::atomic<int> together = 0;
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i)
    others.push_back(background([&] {
      parallel_for(64, [&](int64_t) {
        if (foreground) ++together;
        std::this_thread::sleep_for(50us);
      });
    }));
  int steps = 0;
  for (; steps < 100 || loops_ < 10; ++steps) {
    const ForegroundWork turn;
    foreground = true;
    std::this_thread::sleep_for(1ms);
    foreground = false;
  }
  over_ = true;
  for (std::thread& thread : others) thread.join();
  EXPECT_EQ(together, 0);
  EXPECT_LT(steps, 10000);
}

TEST_F(TurnsTest, PiecesOfSeveralThreadsComeOneAfterAnother) {
  std::atomic<int> inside = 0, steps[3] = {};
  std::atomic<bool> overlapped = false;
  std::vector<std::thread> threads;
  for (auto& count : steps)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const ForegroundWork turn;
        if (++inside > 1) overlapped = true;
        std::this_thread::sleep_for(100us);
        --inside;
        ++count;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(overlapped);
}

// Every item once, in order of nothing; loops within loops, and loops while others have the threads, take no second
// turn.
TEST_F(TurnsTest, BackgroundLoopsAreWhole) {
  std::thread foreign([&] {
    while (!over_) parallel_for(4, [](int64_t) { std::this_thread::sleep_for(20us); });
  });
  std::thread loops([&] {
    work_in_background();
    for (int round = 0; round < 200; ++round) {
      std::vector<std::atomic<int>> visits(1 + round % 37);
      parallel_for(std::ssize(visits), [&](int64_t i) { parallel_for(3, [&](int64_t) { ++visits[i]; }); });
      for (const auto& visit : visits) ASSERT_EQ(visit, 3) << round;
    }
    EXPECT_THROW(parallel_for(9, [](int64_t) { throw std::runtime_error("x"); }), std::runtime_error);
  });
  loops.join();
  over_ = true;
  foreign.join();
}

// Foreground work that waits for what a thread in the background makes once gets it.
TEST_F(TurnsTest, WhatIsMadeOnceIsNotWaitedForInVain) {
  for (int round = 0; round < 20; ++round) {
    std::once_flag once;
    std::atomic<bool> making = false;
    const auto make = [&] {
      std::call_once(once, [&] {
        const WithoutTurns now;
        making = true;
        parallel_for(8, [](int64_t) { std::this_thread::sleep_for(200us); });
      });
    };
    std::thread other([&] {
      work_in_background();
      make();
    });
    while (!making) std::this_thread::yield();
    {
      const ForegroundWork turn;
      make();
    }
    other.join();
  }
}

}  // namespace
}  // namespace limpid
