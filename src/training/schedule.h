#pragma once
// Schedule: the learning rate at each step.

#include <cstdint>
#include <string>

namespace limpid {

struct ScheduleOptions {
  // After a warm-up that rises in a straight line to the learning rate:
  // - inverse-sqrt: rate · √(warmup / step), as in "Attention Is All You Need", section 5.3, with a peak of one's own
  // - cosine: half a cosine down to `final` at the last step
  // - linear: a straight line down to `final`
  // - constant
  std::string kind = "inverse-sqrt";
  double learning_rate = 5e-4;  // the peak; 0 with inverse-sqrt: the paper's d_model^-½ · warmup^-½
  int64_t warmup = 1000;        // steps
  double final = 0;             // of cosine and linear
};

// `step` counts from 1. `steps` is the run's last step, for cosine and linear; `width` is d_model.
double learning_rate(const ScheduleOptions& options, int64_t step, int64_t steps, int64_t width);

// Throws Error where the options contradict themselves or the run's length is needed and unknown (0).
void check_schedule(const ScheduleOptions& options, int64_t steps);

}  // namespace limpid
