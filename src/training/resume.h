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

// The recipe that the checkpoints were made with; nothing where there are none or it cannot be read, which `note` says.
std::optional<Recipe> former_recipe(const RunFolder& folder, const std::function<void(const std::string&)>& note);

// The settings that change the result, each as "key old → new"; an Error where there are some and they are not
// accepted.
std::vector<std::string> accepted_changes(const RunFolder& folder, const Recipe& former, const Recipe& recipe,
                                          const TrainingOptions& options);

// Updates until the run's end by steps or epochs; 0: not known.
int64_t expected_steps(const Recipe& recipe, int64_t batches_per_epoch);

// Why the run ends here, for people to read; empty: it goes on.
std::string reached_end(const Recipe& recipe, const RunProgress& progress);

// An Error where the recipe wants to stop before the step or epoch that has been reached.
void check_not_past(const RunFolder& folder, const Recipe& recipe, const RunProgress& progress);

}  // namespace limpid
