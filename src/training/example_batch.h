#pragma once
// What a model reads and should say, made of examples by the conventions of its task.

#include "models/model.h"
#include "text/batches.h"
#include "training/dataset.h"

namespace limpid {

struct ExampleBatchOptions {
  Task task = Task::translation;
  double mask_share = 0.15;  // masked
  uint64_t key = 0;          // of the random numbers that choose what is masked
};

// Masked tokens (Devlin et al. 2019): of the tokens to be guessed 80 % become the mask, 10 % a random token, 10 % stay.
Batch make_batch(const std::vector<TokenExample>& examples, const Config& config, const ExampleBatchOptions& options);

// How many labels that batch has, without making it.
int64_t count_labels(const std::vector<TokenExample>& examples, const Config& config,
                     const ExampleBatchOptions& options);

// The examples in as many parts, in order, with about the same number of tokens each. Where there are fewer examples
// than parts some are empty.
std::vector<std::vector<TokenExample>> cut_into_shards(std::vector<TokenExample> examples, int64_t shards);

// How a recipe cuts its examples into batches.
BatchesOptions batches_options(const Recipe& recipe);

}  // namespace limpid
