#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

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
