#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/parallel.h"

namespace limpid {
namespace {

int counted = 0;
void count(int) { ++counted; }

TEST(Interrupt, SignalsSetAFlagAndTheFormerHandlersComeBack) {
  const auto before = std::signal(SIGTERM, count);
  {
    const InterruptGuard guard;
    EXPECT_FALSE(interrupted());
    EXPECT_EQ(interrupt_signal(), 0);
    for (int i = 0; i < 3; ++i) std::raise(SIGTERM);
    std::raise(SIGINT);  // at once after the first: the same wish
    EXPECT_TRUE(interrupted());
    EXPECT_EQ(interrupt_signal(), SIGTERM);
    EXPECT_EQ(counted, 0);
  }
  std::raise(SIGTERM);
  EXPECT_EQ(counted, 1);
  {
    const InterruptGuard guard;
    EXPECT_FALSE(interrupted()) << "a new guard starts anew";
  }
  std::signal(SIGTERM, before);
}

// Where the stack pointer stands when the handler is entered is for the handler alone to say.
TEST(Interrupt, HandlersHaveAStackOfTheirOwn) {
  stack_t before{}, during{}, after{};
  struct sigaction action {};
  ::sigaltstack(nullptr, &before);
  {
    const InterruptGuard guard;
    ::sigaltstack(nullptr, &during);
    ::sigaction(SIGTERM, nullptr, &action);
  }
  ::sigaltstack(nullptr, &after);
  EXPECT_EQ(during.ss_flags & SS_DISABLE, 0);
  EXPECT_GE(during.ss_size, size_t{1} << 16);
  EXPECT_NE(action.sa_flags & SA_ONSTACK, 0);
  EXPECT_EQ(after.ss_sp, before.ss_sp);
}

TEST(Interrupt, HelpersTakeNoSignalsButTheirOwn) {
  const auto caller = std::this_thread::get_id();
  std::atomic<int> helpers = 0, open = 0;
  set_threads(3);
  for (int round = 0; round < 200 && helpers == 0; ++round) {
    parallel_for(64, [&](int64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      if (std::this_thread::get_id() == caller) return;
      sigset_t blocked;
      ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
      ++helpers;
      if (!sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGINT)) ++open;
      if (sigismember(&blocked, SIGSEGV) || sigismember(&blocked, SIGBUS)) ++open;
    });
  }
  set_threads(0);
  EXPECT_GT(helpers, 0);
  EXPECT_EQ(open, 0);
}

TEST(Interrupt, WhatWasIgnoredStaysIgnored) {
  const auto before = std::signal(SIGINT, SIG_IGN);
  {
    const InterruptGuard guard;
    std::raise(SIGINT);
    EXPECT_FALSE(interrupted());
  }
  EXPECT_EQ(std::signal(SIGINT, before), SIG_IGN);
}

void interrupt_twice(int second) {
  std::signal(SIGINT, SIG_DFL);  // a test run in the background is born with it ignored
  const InterruptGuard guard;
  std::raise(SIGINT);
  ::usleep(300'000);
  std::raise(second);
  std::_Exit(interrupted() ? 7 : 8);
}

TEST(InterruptDeathTest, ASecondControlCEndsTheProcessASecondSigtermDoesNot) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(interrupt_twice(SIGINT), testing::KilledBySignal(SIGINT), "");
  EXPECT_EXIT(interrupt_twice(SIGTERM), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace limpid
