#include "training/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace limpid {
namespace {

using testing::HasSubstr;

constexpr int64_t kSteps = 1000, kWidth = 512;

double rate(const ScheduleOptions& options, int64_t step) { return learning_rate(options, step, kSteps, kWidth); }

std::string error_of(const ScheduleOptions& options, int64_t steps = kSteps) {
  try {
    check_schedule(options, steps);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Schedule, EveryKindWarmsUpInAStraightLine) {
  for (const char* kind : {"inverse-sqrt", "cosine", "linear", "constant"}) {
    const ScheduleOptions options{.kind = kind, .learning_rate = 0.02, .warmup = 100, .final = 0.001};
    EXPECT_NEAR(rate(options, 1), 0.02 / 100, 1e-15) << kind;
    EXPECT_NEAR(rate(options, 37), 0.02 * 0.37, 1e-15) << kind;
    EXPECT_NEAR(rate(options, 100), 0.02, 1e-15) << kind;
  }
}

// "Attention Is All You Need", equation 3.
TEST(Schedule, InverseSqrtWithoutARateIsThePapers) {
  const ScheduleOptions options{.kind = "inverse-sqrt", .learning_rate = 0, .warmup = 4000};
  for (int64_t step : {1, 100, 3999, 4000, 4001, 100000}) {
    const auto t = static_cast<double>(step);
    const double paper = std::pow(512, -0.5) * std::min(std::pow(t, -0.5), t * std::pow(4000, -1.5));
    EXPECT_NEAR(rate(options, step) / paper, 1, 1e-12) << step;
  }
}

TEST(Schedule, InverseSqrtFallsFromItsPeak) {
  const ScheduleOptions options{.kind = "inverse-sqrt", .learning_rate = 0.01, .warmup = 100};
  EXPECT_NEAR(rate(options, 400), 0.005, 1e-15);
  EXPECT_NEAR(rate(options, 10000), 0.001, 1e-15);
}

TEST(Schedule, CosineAndLinearEndAtTheirFinalRate) {
  const ScheduleOptions cosine{.kind = "cosine", .learning_rate = 0.01, .warmup = 200, .final = 0.002};
  EXPECT_NEAR(rate(cosine, 600), 0.006, 1e-15);  // halfway
  EXPECT_NEAR(rate(cosine, 400), 0.002 + 0.008 * (1 + std::cos(std::numbers::pi / 4)) / 2, 1e-15);
  EXPECT_NEAR(rate(cosine, 1000), 0.002, 1e-15);
  EXPECT_NEAR(rate(cosine, 1500), 0.002, 1e-15);  // not up again
  const ScheduleOptions linear{.kind = "linear", .learning_rate = 0.01, .warmup = 200};
  EXPECT_NEAR(rate(linear, 400), 0.0075, 1e-15);
  EXPECT_NEAR(rate(linear, 1000), 0, 1e-15);
  EXPECT_NEAR(rate(linear, 1500), 0, 1e-15);
}

TEST(Schedule, WithoutWarmupTheFirstStepHasThePeak) {
  for (const char* kind : {"inverse-sqrt", "constant"})
    EXPECT_NEAR(rate({.kind = kind, .learning_rate = 0.01, .warmup = 0}, 1), 0.01, 1e-15) << kind;
  EXPECT_NEAR(rate({.kind = "cosine", .learning_rate = 0.01, .warmup = 0}, 1), 0.01, 1e-7);
  EXPECT_NEAR(rate({.kind = "constant", .learning_rate = 0.01, .warmup = 0}, 100000), 0.01, 1e-15);
}

TEST(Schedule, WhatContradictsItselfIsAnError) {
  EXPECT_EQ(error_of({}), "no error");
  EXPECT_THAT(error_of({.kind = "inverse-sqr"}), HasSubstr("did you mean inverse-sqrt?"));
  EXPECT_THAT(error_of({.kind = "constant", .learning_rate = 0}), HasSubstr("learning_rate is 0"));
  EXPECT_THAT(error_of({.learning_rate = std::numeric_limits<double>::infinity()}), HasSubstr("inf"));
  EXPECT_THAT(error_of({.learning_rate = -1}), HasSubstr("-1"));
  EXPECT_THAT(error_of({.kind = "cosine"}, 0), HasSubstr("stop.steps or stop.epochs"));
  EXPECT_THAT(error_of({.kind = "linear"}, 0), HasSubstr("stop.steps or stop.epochs"));
  EXPECT_EQ(error_of({.kind = "constant"}, 0), "no error");
}

}  // namespace
}  // namespace limpid
