#pragma once
// SpreadMoments: the running means of an optimiser of which each rank has some slices, for checkpoints that look as on
// one machine.

#include "cluster/courier.h"
#include "cluster/partition.h"
#include "training/checkpoint.h"

namespace limpid {

class SpreadMoments : public MomentStore {
 public:
  // Between two updates nobody needs the gradients: their buffer is where all numbers of a kind are together.
  SpreadMoments(Courier& courier, const Partition& partition, Optimizer& optimizer, Gradients& gradients)
      : courier_(courier), partition_(partition), optimizer_(optimizer), gradients_(gradients) {}

  // To be called on all ranks; rank 0 gets the numbers.
  real* gathered(Moment moment) override;
  real* place(Moment) override { return gradients_.data(); }
  // On rank 0, while all others follow().
  void keep(Moment moment) override;
  // Takes what rank 0 keeps, until it says end(), with a text of its own.
  std::string follow();
  std::string end(const std::string& text);

 private:
  std::span<real> own(Moment moment) { return moment == Moment::mean ? optimizer_.means() : optimizer_.squares(); }
  void take(Moment moment);

  Courier& courier_;
  const Partition& partition_;
  Optimizer& optimizer_;
  Gradients& gradients_;
};

}  // namespace limpid
