#pragma once
// Whether and how a run may go on in its folder.

#include <functional>
#include <optional>

#include "training/run_folder.h"
#include "training/run_progress.h"
#include "training/run_record.h"

namespace limpid {

// An Error where the folder has a trained model and no checkpoint: training would begin again and write over it.
void check_model_is_kept(const RunFolder& folder);

// What a run goes on from: the recipe that its checkpoints were made with, where there are some and it can be read; and
// what is other now and changes the result, each as "key old → new".
struct FormerSettings {
  std::optional<Recipe> recipe;
  std::vector<std::string> changes;
};

// An Error where there are changes and they are not accepted, and where nobody can tell whether there are.
FormerSettings former_settings(const RunFolder& folder, const Recipe& recipe, const TrainingOptions& options);

// Updates until the run's end by steps or epochs; 0: not known.
int64_t expected_steps(const Recipe& recipe, int64_t batches_per_epoch);

// Why the run ends here, for people to read; empty: it goes on.
std::string reached_end(const Recipe& recipe, const RunProgress& progress);

// An Error where the recipe wants to stop before the step or epoch that has been reached.
void check_not_past(const RunFolder& folder, const Recipe& recipe, const RunProgress& progress);

}  // namespace limpid
