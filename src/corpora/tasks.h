#pragma once
// Small tasks on sequences of letters, for tests and experiments: what a model must do with them is known exactly.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "corpora/split.h"

namespace limpid {

enum class SyntheticTask {
  copy,     // d a c -> d a c
  reverse,  // d a c -> c a d
  sort,     // d a c -> a c d
  repeat,   // d a c d a c: for language models, which can foretell the second half (induction)
};

std::span<const std::string_view> task_names();
std::optional<SyntheticTask> task_of(std::string_view name);

struct TaskOptions {
  uint64_t seed = 1;
  int shortest = 4, longest = 12;  // letters of the source
  int alphabet = 26;               // how many letters there are
};

// Letters with spaces between them. For kRepeat the target equals the source, and the text to learn is both in a row.
struct TaskPair {
  std::string source, target;
};

// A pure function of its arguments. Which split a source belongs to depends on the source alone (90 % train, 5 % valid,
// 5 % test), so held-out sources are never trained on with any seed. Split::compositional: sources longer than
// any of training, by up to half of `longest`.
TaskPair task_pair(SyntheticTask task, const TaskOptions& options, uint64_t index, Split split = Split::train);

}  // namespace limpid
