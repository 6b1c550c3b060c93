#pragma once
// Experts: feed-forward networks of which every token takes the few that a router finds best, each by its share
// (Shazeer et al. 2017); and one more, where the model has it, that every token takes under a gate of its own.

#include "layers/feed_forward.h"

namespace limpid {

struct ExpertsNames {
  std::string router;         // one row for each expert
  std::string prefix;         // of an expert's matrices, with {} for its number
  FeedForwardNames matrices;  // behind the prefix
  std::string shared, shared_gate;
};

struct ExpertsOptions {
  int64_t count = 0, chosen = 0;
  bool normalize = true;            // shares of the chosen add up to one
  FeedForwardOptions each, shared;  // shared: of no features where there is none
};

class Experts {
 public:
  Experts() = default;
  Experts(const ExpertsNames& names, const ExpertsOptions& options);

  Tensor forward(Run& run, const Tensor& x, const Sequences& tokens) const;
  void visit(const WeightVisitor& visitor);

 private:
  ExpertsOptions options_;
  Linear router_, shared_gate_;
  std::vector<FeedForward> experts_;
  FeedForward shared_;
};

}  // namespace limpid
