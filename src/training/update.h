#pragma once
// Updater: one update of the weights. Its batches are cut into shards (batch.shards), each shard's gradient is computed
// by itself, on whichever rank has it, and all are added up in an order that depends on their number alone. So the
// weights have the same bits with any number of ranks. Every rank keeps the optimiser's state of its own slices,
// updates these, and gets the others' weights from the others.

#include "models/model.h"
#include "training/dataset.h"
#include "training/gradient_sum.h"
#include "training/spread_moments.h"
#include "training/update_timing.h"

namespace limpid {

struct Update {
  double loss = 0;  // mean of its tokens
  int64_t tokens = 0;
  double norm = 0, rate = 0;
};

// An Error, with the same text on all ranks, where there are more ranks than shards.
void check_shards(const Recipe& recipe, const Courier& ranks);

class Updater {
 public:
  Updater(const Recipe& recipe, const Model& model, Parameters& parameters, Courier& courier);

  // From the gradients of one or more batches, their mean over all tokens, a step of Adam. Where the loss is no number
  // the weights stay as they are. `step`: updates before this one.
  Update run(std::vector<std::vector<TokenExample>> batches, int64_t step, double rate);

  Optimizer& optimizer() { return optimizer_; }
  SpreadMoments* moments() { return moments_.get(); }  // of an optimiser that is spread over ranks; else none

  void measure() { measured_ = true; }  // when gradients are complete, even where nobody waits for them
  const UpdateTiming& timing() const { return timing_; }  // of the last update

 private:
  struct Shard {
    std::vector<Batch> batches;  // of those that have examples in it
    std::vector<int64_t> numbers;
  };
  std::vector<Shard> cut(std::vector<std::vector<TokenExample>> batches, int64_t step, int64_t& tokens);
  double compute(const Shard& shard, int64_t step, int64_t number, double tokens);
  std::vector<double> squares() const;
  double agree(const std::vector<double>& losses, const std::vector<real>& statistics, double& norm);
  void learn(double rate, double norm);
  std::span<real> statistics();

  const Recipe& recipe_;
  const Model& model_;
  Parameters& parameters_;
  Courier& courier_;
  Task task_;
  int64_t accumulate_ = 1;
  Arena arena_;
  Gradients gradients_;
  Partition partition_;
  GradientSum sum_;
  Optimizer optimizer_;
  std::unique_ptr<SpreadMoments> moments_;
  bool measured_ = false;
  UpdateTiming timing_;
};

}  // namespace limpid
