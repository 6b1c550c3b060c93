#pragma once
// The examples of a batch in other segmentations every time they are seen, where the recipe asks for it
// (tokenizer.sampling). Drawn by seed, batch and place alone, so a run that is resumed reads what it would have read.

#include "text/piece_sampler.h"
#include "training/dataset.h"

namespace limpid {

class SubwordSampling {
 public:
  SubwordSampling(const Recipe& recipe, const Tokenizers& tokenizers);

  // `number` counts the batches of the run. A side that would become longer than data.max_length stays as it is.
  std::vector<TokenExample> drawn(std::vector<TokenExample> examples, int64_t number) const;

 private:
  std::shared_ptr<const PieceSampler> source_, target_;  // none: that side stays as it is
  uint64_t seed_;
  int64_t max_length_;
};

}  // namespace limpid
