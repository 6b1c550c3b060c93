#include "training/cost_meter.h"

#include <algorithm>
#include <chrono>

#include "base/real.h"
#include "base/seconds_since.h"

namespace limpid {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

// Of one thread, as the one that adds up what comes from other ranks.
double seconds_per_addition() {
  std::vector<real> a(1 << 22, 1), b(1 << 22, 2);
  std::vector<double> seconds;
  for (int round = 0; round < 5; ++round) {
    const auto begun = std::chrono::steady_clock::now();
    for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    seconds.push_back(seconds_since(begun));
  }
  return median(seconds) / static_cast<double>(a.size());
}

}  // namespace

void CostMeter::add(const UpdateTiming& timing) {
  of_all_.push_back(timing.read + timing.cut);
  compute_.push_back(timing.compute);
  learned_.push_back(timing.learned);
  ready_.resize(timing.ready.size());
  for (size_t bucket = 0; bucket < ready_.size(); ++bucket) ready_[bucket].push_back(timing.ready[bucket]);
}

UpdateCosts CostMeter::costs(int64_t shards, int64_t tokens, int64_t numbers, double seconds, double memory) const {
  const double of_all = median(of_all_), compute = median(compute_), learned = median(learned_);
  UpdateCosts costs{.shards = shards,
                    .tokens = tokens,
                    .numbers = numbers,
                    .shard = compute / static_cast<double>(shards),
                    .add = seconds_per_addition(),
                    .learn = learned,
                    .each = of_all / static_cast<double>(shards),
                    .rest = std::max(0.0, seconds - of_all - compute - learned),
                    .memory = memory};
  for (const std::vector<double>& bucket : ready_) costs.ready.push_back(median(bucket));
  return costs;
}

}  // namespace limpid
