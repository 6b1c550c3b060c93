#pragma once
// CostMeter: from the timings of updates on one rank to what a plan for others is made of (training/rank_plan.h).

#include "training/rank_plan.h"
#include "training/update_timing.h"

namespace limpid {

class CostMeter {
 public:
  void add(const UpdateTiming& timing);

  // Of the median update; `seconds`: of a whole step, everything included.
  UpdateCosts costs(int64_t shards, int64_t tokens, int64_t numbers, double seconds, double memory) const;

 private:
  std::vector<double> of_all_, compute_, learned_;
  std::vector<std::vector<double>> ready_;  // by bucket
};

}  // namespace limpid
