#include "training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/nearest.h"

namespace limpid {
namespace {

constexpr std::string_view kKinds[] = {"inverse-sqrt", "cosine", "linear", "constant"};

}  // namespace

double learning_rate(const ScheduleOptions& options, int64_t step, int64_t steps, int64_t width) {
  const auto t = static_cast<double>(step), warmup = static_cast<double>(std::max<int64_t>(options.warmup, 1));
  const double peak =
      options.learning_rate > 0 ? options.learning_rate : 1 / std::sqrt(static_cast<double>(width) * warmup);
  if (step < options.warmup) return peak * t / warmup;
  if (options.kind == "constant") return peak;
  if (options.kind == "inverse-sqrt") return peak * std::sqrt(warmup / t);
  const double length = static_cast<double>(std::max<int64_t>(steps - options.warmup, 1));
  const double done = std::clamp((t - static_cast<double>(options.warmup)) / length, 0.0, 1.0);
  const double left = options.kind == "cosine" ? (1 + std::cos(std::numbers::pi * done)) / 2 : 1 - done;
  return options.final + (peak - options.final) * left;
}

void check_schedule(const ScheduleOptions& options, int64_t steps) {
  const bool known = std::find(std::begin(kKinds), std::end(kKinds), options.kind) != std::end(kKinds);
  check(known, "[recipe] schedule.kind is \"{}\": allowed are inverse-sqrt, cosine, linear, constant{}", options.kind,
        [&] { return did_you_mean(options.kind, kKinds); });
  check(std::isfinite(options.learning_rate) && options.learning_rate >= 0 && options.warmup >= 0,
        "[recipe] schedule.learning_rate is {} and schedule.warmup {}: allowed are numbers from 0",
        options.learning_rate, options.warmup);
  check(options.learning_rate > 0 || options.kind == "inverse-sqrt",
        "[recipe] schedule.learning_rate is 0: only inverse-sqrt has a rate of its own (the paper's)");
  const bool needs_end = options.kind == "cosine" || options.kind == "linear";
  check(!needs_end || steps > 0, "[recipe] schedule.kind {} ends at the last step: stop.steps or stop.epochs is needed",
        options.kind);
}

}  // namespace limpid
